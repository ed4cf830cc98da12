// What the pages do by themselves: count seconds, narrow long lists, hide stopped runs that were dismissed, say when the
// studio is gone. htmx asks for what is live.
(() => {
  "use strict";
  const notice = document.getElementById("connection");
  let shown = "";

  // a page that says the same stays as it is, with what is selected or opened in it
  document.addEventListener("htmx:beforeSwap", (event) => {
    const text = event.detail.xhr.responseText;
    const busy = document.activeElement && document.activeElement.closest("#live form");
    if (text === shown || busy) event.detail.shouldSwap = false;
    shown = text;
    if (!text.includes('id="live"')) location.reload(); // it asks for the token
    notice.hidden = true;
  });
  document.addEventListener("htmx:sendError", () => {
    notice.hidden = false;
  });

  function clock(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const pad = (n) => String(n).padStart(2, "0");
    if (whole < 60) return whole + " s";
    if (whole < 3600) return Math.floor(whole / 60) + ":" + pad(whole % 60);
    return Math.floor(whole / 3600) + ":" + pad(Math.floor((whole % 3600) / 60)) + ":" + pad(whole % 60);
  }
  function tick() {
    for (const place of document.querySelectorAll("[data-since]")) {
      const began = Date.parse(place.dataset.since);
      if (!Number.isNaN(began)) place.textContent = clock((Date.now() - began) / 1000);
    }
  }

  function narrow(event) {
    const field = event.target;
    if (!field.dataset || !field.dataset.filter) return;
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of document.querySelectorAll(field.dataset.filter)) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      if (!row.hidden) left += 1;
    }
    const count = document.getElementById("filter-count");
    if (count) count.textContent = wanted.length ? left + " found" : "";
  }

  // this browser remembers what was dismissed, by project and time: a run that stops again is shown again
  const dismissed = () => JSON.parse(localStorage.getItem("dismissed") || "[]");
  function hide(names) {
    localStorage.setItem("dismissed", JSON.stringify(names));
    const found = [...document.querySelectorAll("[data-stop]")];
    for (const one of found) one.hidden = names.includes(one.dataset.stop);
    const number = found.filter((one) => one.hidden).length;
    const button = document.querySelector("[data-restore]");
    if (!button) return;
    button.hidden = !number;
    button.textContent = "Show " + number + " dismissed";
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-dismiss], [data-restore]");
    if (!button) return;
    const stop = button.closest("[data-stop]");
    hide(stop ? [...dismissed(), stop.dataset.stop] : []);
  });
  document.addEventListener("htmx:afterSwap", () => hide(dismissed()));
  hide(dismissed());

  document.addEventListener("input", narrow);
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (event.target.method === "post" && button) {
      setTimeout(() => {
        button.disabled = true;
        button.textContent = "Working …";
      });
    }
  });
  setInterval(tick, 1000);
  tick();
})();

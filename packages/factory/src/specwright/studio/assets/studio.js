// What the pages do by themselves: follow the log, say when the studio is gone, count the seconds, narrow long lists.
(() => {
  "use strict";
  const root = document.documentElement;
  const notice = document.getElementById("connection");

  function follow() {
    const address = root.dataset.events;
    if (!address) return;
    let stream = null;
    let shown = root.dataset.position;
    let asking = false;
    let asked = false;

    function lost(is) {
      notice.hidden = !is;
    }
    // one request at a time: what changes meanwhile is shown by the next one
    function refresh() {
      asked = asking;
      if (asking) return;
      asking = true;
      const done = () => {
        asking = false;
        if (asked) refresh();
      };
      htmx
        .ajax("GET", location.href, { target: "#live", select: "#live", swap: "outerHTML" })
        .then(done, done);
    }
    function changed(event) {
      if (event.data === shown) return;
      shown = event.data;
      if (document.getElementById("live")) {
        refresh();
      } else {
        const stale = document.getElementById("stale");
        if (stale) stale.hidden = false;
      }
    }
    function open() {
      if (stream || document.hidden) return;
      stream = new EventSource(address + "?position=" + encodeURIComponent(shown));
      stream.addEventListener("change", changed);
      stream.addEventListener("open", () => lost(false));
      stream.addEventListener("error", () => {
        lost(true);
        if (stream && stream.readyState === EventSource.CLOSED) {
          stream = null;
          setTimeout(open, 2000);
        }
      });
    }
    function close() {
      if (stream) stream.close();
      stream = null;
    }
    // a browser opens few connections to one host: a page that nobody sees gives its own back
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
    addEventListener("pageshow", open);
    open();
  }

  // an answer without the part that is asked for is the page of the token: show it whole
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!event.detail.xhr.responseText.includes('id="live"')) {
      event.detail.shouldSwap = false;
      location.reload();
    }
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

  document.addEventListener("input", narrow);
  document.addEventListener("submit", (event) => {
    const button = event.target.querySelector("button[type=submit]");
    if (event.target.method === "post" && button) {
      setTimeout(() => {
        button.disabled = true;
        button.textContent = "Working …";
      });
    }
  });
  setInterval(tick, 1000);
  tick();
  follow();
})();

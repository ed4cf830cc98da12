from modules.find_links import Link, find_links


def test_an_inline_link():
    assert find_links('[a](https://x.example/1)') == [Link(1, 'a', 'https://x.example/1')]


def test_a_title_and_angle_brackets_are_no_part_of_the_address():
    assert find_links('[a](https://x.example "T")') == [Link(1, 'a', 'https://x.example')]
    assert find_links("[a](https://x.example 'T' )") == [Link(1, 'a', 'https://x.example')]
    assert find_links('[a](<https://x.example/b c>)') == [Link(1, 'a', 'https://x.example/b c')]
    assert find_links('[a](<https://x.example/b> "T")') == [Link(1, 'a', 'https://x.example/b')]
    assert find_links('[a]( \thttps://x.example)') == [Link(1, 'a', 'https://x.example')]
    assert find_links('[a]( <https://x.example>\n)') == [Link(1, 'a', 'https://x.example')]
    assert find_links('[a](<ftp://x.example> b)') == []
    assert find_links("[a](https://x.example/\n'T\n2')") == [Link(1, 'a', 'https://x.example/')]


def test_round_brackets_in_an_address():
    assert find_links('[a](https://x.example/a_(b)) c)') == [Link(1, 'a', 'https://x.example/a_(b)')]
    assert find_links('[a](https://x.example/((b)c)d)') == [Link(1, 'a', 'https://x.example/((b)c)d')]


def test_an_image_in_a_link():
    assert find_links('[![alt](https://x.example/i.png)](https://x.example)') == [Link(1, '![alt](https://x.example/i.png)', 'https://x.example'), Link(1, 'alt', 'https://x.example/i.png')]


def test_the_text_of_a_link_has_single_spaces():
    assert find_links('[ a\n  b\tc ](https://x.example)') == [Link(1, 'a b c', 'https://x.example')]
    assert find_links('[](https://x.example)') == [Link(1, '', 'https://x.example')]


def test_a_reference_takes_the_address_of_its_label():
    assert find_links("[A  b]: https://x.example 'T'\n\n[see][a B] [a b][] [a\nb]\n") == [Link(3, 'see', 'https://x.example'), Link(3, 'a b', 'https://x.example'), Link(3, 'a b', 'https://x.example')]
    assert find_links('   [a]: <https://x.example>\n[a] [a]:') == [Link(2, 'a', 'https://x.example'), Link(2, 'a', 'https://x.example')]
    assert find_links('[a]\n\n[a]:https://x.example/1\n[a]: https://x.example/2') == [Link(1, 'a', 'https://x.example/1')]
    assert find_links('[a]\n\n    [a]: https://x.example') == []
    assert find_links('[ß]: https://x.example\n\n[SS]') == [Link(3, 'SS', 'https://x.example')]


def test_a_label_that_nothing_defines_is_no_link():
    assert find_links('[a][b] [c]') == []
    assert find_links('[a][b][c]\n\n[a]: https://x.example/a\n[c]: https://x.example/c') == [Link(1, 'b', 'https://x.example/c')]
    assert find_links('[a](b c)\n\n[a]: https://x.example') == [Link(1, 'a', 'https://x.example')]


def test_a_bare_address():
    assert find_links('<https://x.example> and\nhttp://y.example/?q=1#f|https://z.example`https://w.example"') == [Link(1, 'https://x.example', 'https://x.example'), Link(2, 'http://y.example/?q=1#f', 'http://y.example/?q=1#f'), Link(2, 'https://z.example', 'https://z.example'), Link(2, 'https://w.example', 'https://w.example')]
    assert find_links('[https://in.example](https://out.example)') == [Link(1, 'https://in.example', 'https://out.example')]
    assert find_links('xhttps://a.example 1http://a.example _http://a.example') == [Link(1, 'http://a.example', 'http://a.example')]


def test_the_end_of_a_sentence():
    assert find_links("See https://a.example/a. https://a.example/b, https://a.example/c; https://a.example/d: https://a.example/e! https://a.example/f? 'https://a.example/g' *https://a.example/h* _https://a.example/i_ ~https://a.example/j~") == [Link(1, 'https://a.example/a', 'https://a.example/a'), Link(1, 'https://a.example/b', 'https://a.example/b'), Link(1, 'https://a.example/c', 'https://a.example/c'), Link(1, 'https://a.example/d', 'https://a.example/d'), Link(1, 'https://a.example/e', 'https://a.example/e'), Link(1, 'https://a.example/f', 'https://a.example/f'), Link(1, 'https://a.example/g', 'https://a.example/g'), Link(1, 'https://a.example/h', 'https://a.example/h'), Link(1, 'https://a.example/i', 'https://a.example/i'), Link(1, 'https://a.example/j', 'https://a.example/j')]
    assert find_links('(https://a.example/a_(b)) [https://a.example/c] (https://a.example/d.) https://a.example/e]).') == [Link(1, 'https://a.example/a_(b)', 'https://a.example/a_(b)'), Link(1, 'https://a.example/c', 'https://a.example/c'), Link(1, 'https://a.example/d', 'https://a.example/d'), Link(1, 'https://a.example/e', 'https://a.example/e')]
    assert find_links('https://a.example/a[b] https://a.example/a(b') == [Link(1, 'https://a.example/a[b]', 'https://a.example/a[b]'), Link(1, 'https://a.example/a(b', 'https://a.example/a(b')]


def test_brackets_that_form_no_link():
    assert find_links('\\[a](https://x.example)') == [Link(1, 'https://x.example', 'https://x.example')]
    assert find_links('[a] (https://x.example)') == [Link(1, 'https://x.example', 'https://x.example')]
    assert find_links('[a\n\nb](https://x.example)') == [Link(3, 'https://x.example', 'https://x.example')]
    assert find_links('](https://x.example') == [Link(1, 'https://x.example', 'https://x.example')]
    assert find_links('[[a](https://x.example)') == [Link(1, 'a', 'https://x.example')]
    assert find_links('[a\\]b](https://x.example)') == [Link(1, 'a\\]b', 'https://x.example')]
    assert find_links('[a](https://x.example "T" b)') == [Link(1, 'https://x.example', 'https://x.example')]
    assert find_links('[a](https://x.example/[b])\n\n[b]: https://b.example') == [Link(1, 'a', 'https://x.example/[b]')]
    assert find_links('[a][b]\n\n[a]: https://a.example\n[b]: https://b.example') == [Link(1, 'a', 'https://b.example')]
    assert find_links('[a\n \t\n](https://x.example)') == [Link(3, 'https://x.example', 'https://x.example')]


def test_a_fenced_block():
    assert find_links('```py\nhttps://a.example/1\n``\n~~~\nhttps://a.example/2\n```` \nhttps://a.example/3') == [Link(7, 'https://a.example/3', 'https://a.example/3')]
    assert find_links('   ~~~\nhttps://a.example/1\n```\n~~~ x\n~~~\nhttps://a.example/2') == [Link(6, 'https://a.example/2', 'https://a.example/2')]
    assert find_links('~~\nhttps://a.example/1\n``\n    ```\nhttps://a.example/2') == [Link(2, 'https://a.example/1', 'https://a.example/1'), Link(5, 'https://a.example/2', 'https://a.example/2')]


def test_a_fence_that_is_never_closed():
    assert find_links('https://a.example/1\n~~~~\n~~~\n\nhttps://a.example/2') == [Link(1, 'https://a.example/1', 'https://a.example/1')]


def test_an_indented_block():
    assert find_links('    https://a.example/1\n\thttps://a.example/2\n\n    https://a.example/3\nhttps://a.example/4') == [Link(5, 'https://a.example/4', 'https://a.example/4')]
    assert find_links('a\n    https://a.example/1\n   https://a.example/2\n\n   https://a.example/3') == [Link(2, 'https://a.example/1', 'https://a.example/1'), Link(3, 'https://a.example/2', 'https://a.example/2'), Link(5, 'https://a.example/3', 'https://a.example/3')]
    assert find_links('    a\n    ```\nhttps://a.example/1') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('    a\n \n    ```\n    - b\n\n    https://a.example/1') == []


def test_an_indented_line_of_a_list_item_is_no_code():
    assert find_links('- a\n\n    https://a.example/1\n\nb\n\n    https://a.example/2') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('* a\n\n    https://a.example/1\n\nb\n\n    https://a.example/2') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('+\ta\n\n    https://a.example/1\n\nb\n\n    https://a.example/2') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('1. a\n\n    https://a.example/1\n\nb\n\n    https://a.example/2') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('12) a\n\n    https://a.example/1\n\nb\n\n    https://a.example/2') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('  -\n\n    https://a.example/1\n\nb\n\n    https://a.example/2') == [Link(3, 'https://a.example/1', 'https://a.example/1')]
    assert find_links('-a\n\n    https://a.example/1') == []
    assert find_links('- a\n\n  b\n\n    https://a.example/1\n ```\nhttps://a.example/2\n ```\n\n    https://a.example/3') == [Link(5, 'https://a.example/1', 'https://a.example/1'), Link(10, 'https://a.example/3', 'https://a.example/3')]


def test_a_block_parts_a_text():
    assert find_links('[a\n```\n- b\n```\nc](https://x.example)') == [Link(5, 'https://x.example', 'https://x.example')]


def test_a_code_span():
    assert find_links('`https://a.example/1` ``https://a.example/2 ` https://a.example/3`` https://a.example/4') == [Link(1, 'https://a.example/4', 'https://a.example/4')]
    assert find_links('`a\nhttps://a.example/1` [b](`) https://a.example/2') == [Link(2, 'https://a.example/2', 'https://a.example/2')]
    assert find_links('[`a`](https://x.example)') == [Link(1, '', 'https://x.example')]


def test_a_run_without_a_partner_is_no_code():
    assert find_links('` https://a.example/1\n\n`` https://a.example/2 ` https://a.example/3\n \t\n`') == [Link(1, 'https://a.example/1', 'https://a.example/1'), Link(3, 'https://a.example/2', 'https://a.example/2'), Link(3, 'https://a.example/3', 'https://a.example/3')]


def test_the_order_is_that_of_the_text():
    assert find_links('https://a.example/1 [a](https://b.example) https://a.example/2\n[c]\nhttps://a.example/3 [d](http://d.example)\n\n[c]: https://c.example') == [Link(1, 'https://a.example/1', 'https://a.example/1'), Link(1, 'a', 'https://b.example'), Link(1, 'https://a.example/2', 'https://a.example/2'), Link(2, 'c', 'https://c.example'), Link(3, 'https://a.example/3', 'https://a.example/3'), Link(3, 'd', 'http://d.example')]


def test_addresses_of_the_web_alone():
    assert find_links('[a](ftp://x.example) [b](/c) [d](https://) [e](http:///f) https://\n[g](HTTPS://X.example) Http://y.example mailto:a@b.example') == [Link(2, 'g', 'HTTPS://X.example'), Link(2, 'Http://y.example', 'Http://y.example')]


def test_line_ends_of_all_kinds_count():
    assert find_links('a\r\nhttps://a.example/1\rhttps://a.example/2\nhttps://a.example/3') == [Link(2, 'https://a.example/1', 'https://a.example/1'), Link(3, 'https://a.example/2', 'https://a.example/2'), Link(4, 'https://a.example/3', 'https://a.example/3')]
    assert find_links('') == []


def test_a_long_text_without_a_link():
    assert find_links("[" * 3000 + "](" * 3000 + "`" * 3001 + "x" * 9000) == []
    assert find_links("[a](https://x.example/" + "b" * 1978 + ")") == [Link(1, "a", "https://x.example/" + "b" * 1978)]

import fc from 'fast-check'

// Known attacks through markup, and a generator of more. Each is well-formed XML or intentionally malformed.

/** The whole payload must be rejected. */
export const HOSTILE: readonly string[] = [
  '<script>alert(1)</script>',
  '<p><ScRiPt src="//x/y.js"/></p>',
  '<svg:script xmlns:svg="http://www.w3.org/2000/svg">alert(1)</svg:script>',
  '<svg><script>alert(1)</script></svg>',
  '<style>@import "//x"</style>',
  '<b><iframe src="https://x/"/></b>',
  '<object type="text/html"/>',
  '<embed src="x"/>',
  '<form action="/x"><p>a</p></form>',
  '<a href="data:text/html,x">x</a>',
  '<a href=" &#9;DaTa:text/html;base64,PHNjcmlwdD4=">x</a>',
  '<a href="da&#10;ta:text/html,x">x</a>',
  '<a href="&#x200b;data:text/html,x">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<a href="VB&#9;SCRIPT:msgbox(1)">x</a>',
  '<img src="data:image/svg+xml,x"/>',
  '<img srcset="a.png 1x, data:image/png,x 2x"/>',
  '<svg><use xlink:href="data:image/svg+xml,x"/></svg>',
  '<svg><animate attributeName="href" values="/a;data:text/html,x"/></svg>',
  '<button formaction="vbscript:x">x</button>',
  '<math><mtext><style><img src="x" onerror="alert(1)"/></style></mtext></math>',
]

/** Dangerous parts must be removed; `x` remains. */
export const REMOVED: readonly string[] = [
  '<p onclick="alert(1)">x</p>',
  '<p OnMouseOver="alert(1)" style="background:url(javascript:1)">x</p>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="JaVaScRiPt:alert(1)">x</a>',
  '<a href="java&#10;script:alert(1)">x</a>',
  '<a href="&#x86;javascript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href="&#x2028;javascript:alert(1)">x</a>',
  '<a href="&#x200b;javascript:alert(1)">x</a>',
  '<a href="&#xff4a;avascript:alert(1)">x</a>',
  '<a href="blob:https://x/1">x</a>',
  '<a href="file:///etc/passwd">x</a>',
  '<a href="filesystem:https://x/1">x</a>',
  '<a href="jar:https://x!/y">x</a>',
  '<a href="view-source:https://x">x</a>',
  '<a href="intent:x#Intent;end">x</a>',
  '<a xlink:href="javascript:1">x</a>',
  '<a href="/p" onfocus="alert(1)" autofocus="1" id="y" class="z">x</a>',
  '<img src="q" onerror="alert(1)"/><p>x</p>',
  '<svg onload="alert(1)"><text>x</text></svg>',
  '<math><mi xlink:href="javascript:1">x</mi></math>',
  '<noscript><p title="&lt;/noscript&gt;&lt;img src=q onerror=1&gt;">x</p></noscript>',
  '<template><p>x</p></template>',
  '<base href="//x/"/><p>x</p>',
  '<meta http-equiv="refresh" content="0;url=javascript:1"/><p>x</p>',
  '<link rel="stylesheet" href="//x/y.css"/><p>x</p>',
  '<details open="" ontoggle="alert(1)"><summary>x</summary></details>',
  '<p xmlns="http://www.w3.org/2000/svg">x</p>',
  '<table background="javascript:1"><tr><td colspan="1&quot; onclick=&quot;1" rowspan="-1">x</td></tr></table>',
  '<video><source onerror="alert(1)"/>x</video>',
  '<input value="q" onfocus="1"/><p>x</p>',
  '<p>x</p><!-- --><?php evil ?>',
  '<a href="/p" target="_blank&quot; onclick=&quot;1" rel="x&quot;y">x</a>',
]

/** Text that only looks dangerous. It must stay unchanged. */
export const HARMLESS: readonly string[] = [
  'Use data:text/plain, then vbscript: or javascript:alert(1).',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '&quot;&gt;&lt;svg onload=alert(1)&gt;',
  '&amp;lt;script&amp;gt;',
  ']]&gt;--&gt;&lt;/textarea&gt;',
]

/** Over the limits or malformed, so not parsed as a tree. */
export const NOT_PARSED: Readonly<Record<'limits' | 'malformed', readonly string[]>> = {
  limits: [
    '<!DOCTYPE ops SYSTEM "file:///etc/passwd"><ops/>',
    '<!DOCTYPE o [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><o>&b;</o>',
    '<!DOCTYPE o [<!ENTITY x SYSTEM "file:///etc/passwd">]><o>&x;</o>',
    '<!DOCTYPE o [<!ENTITY % p SYSTEM "http://x/"> %p;]><o/>',
    '<o>&nbsp;</o>',
    '<o a="&xxe;"/>',
    '<o>&constructor;&__proto__;</o>',
  ],
  malformed: [
    '',
    'text',
    '<o>',
    '<o></p>',
    '<o/><o/>',
    '<o a="1" a="2"/>',
    '<o a=1/>',
    '<o>&</o>',
    '<o>&#0;</o>',
    '<o>&#xD800;</o>',
    '<o>\u0000</o>',
    '<o>\ufffe</o>',
    '<o><![CDATA[</o>',
    '<!DOCTYPE o [<!ENTITY a "',
  ],
}

const SCHEMES = [
  'javascript:',
  'data:text/html,',
  'vbscript:',
  'livescript:',
  'blob:',
  'https://x/',
  'mailto:a@x',
  '/p',
  '//x',
  '#',
]
const TAGS = [
  'a',
  'p',
  'img',
  'svg',
  'math',
  'script',
  'style',
  'iframe',
  'object',
  'form',
  'b',
  'td',
  'svg:a',
  'SCRIPT',
  'x:y',
  'span',
]
const NAMES = [
  'href',
  'HREF',
  'src',
  'xlink:href',
  'onclick',
  'oNLoad',
  'style',
  'title',
  'action',
  'srcset',
  'colspan',
  'target',
  'rel',
]
const HIDING = ['', '&#9;', '&#10;', '&#13;', '&#32;', '&#x86;', '&#x200b;', '&#xfeff;', '&#x2028;', '&#x85;']

const caseless = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join(''))

/** An address with its scheme in mixed case, with characters that a browser ignores. */
const attackUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...SCHEMES).chain(caseless),
    fc.constantFrom(...HIDING),
    fc.constantFrom(...HIDING),
    fc.nat(12),
  )
  .map(([url, before, hidden, at]) => `${before}${url.slice(0, at)}${hidden}${url.slice(at)}x`)

/** Well-formed markup built from elements, attributes and addresses of attacks. */
export const attack: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('x', 'data:x', '&lt;script&gt;', '<!-- c -->', '<![CDATA[<b onclick=1>]]>'),
    fc
      .tuple(
        fc.constantFrom(...TAGS),
        fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(attackUrl, fc.constant('&quot;&gt;&lt;b')), { maxKeys: 3 }),
        fc.array(tie('node'), { maxLength: 3 }),
      )
      .map(([tag, attributes, children]) => {
        const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`)
        return `<${tag}${list.join('')}>${children.join('')}</${tag}>`
      }),
  ),
})).node

// Runs in a browser's page. Inserts HTML as a careless page would, and tells what the browser makes of it: elements and
// attributes that a document must not have, addresses that a link must not have, and everything that ran or was loaded.
;(() => {
  const PLACES = {
    a: ['href', 'title', 'rel', 'target'],
    code: ['class'],
    ol: ['start'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
  }
  const ELEMENTS = new Set(
    'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong table tbody td th thead tr u ul'.split(
      ' ',
    ),
  )
  const SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:'])
  const EVENTS = 'click mouseover pointerenter focus focusin toggle animationstart transitionend error load'.split(' ')

  const seen = []
  const ran = () => {
    seen.push('ran')
  }
  for (const name of ['hit', 'alert', 'confirm', 'prompt', 'print', 'open'])
    Object.defineProperty(globalThis, name, { value: ran, configurable: false, writable: false })
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    // The browser itself asks each site for its icon.
    if (!blockedURI.endsWith('/favicon.ico')) seen.push(`${effectiveDirective} ${blockedURI}`)
  })

  const faultsOf = (element) => {
    const { localName, namespaceURI, attributes } = element
    const faults = []
    if (namespaceURI !== 'http://www.w3.org/1999/xhtml' || !ELEMENTS.has(localName)) faults.push(`<${localName}>`)
    for (const { name } of attributes) if (!PLACES[localName]?.includes(name)) faults.push(`<${localName} ${name}>`)
    if (localName === 'code' && element.hasAttribute('class') && !/^language-\S{1,64}$/.test(element.className))
      faults.push(`<code class="${element.className}">`)
    // Of an address that is none the browser says ":", and follows it nowhere.
    if (localName === 'a' && element.protocol !== ':' && !SCHEMES.has(element.protocol))
      faults.push(`the address ${element.protocol}`)
    return faults
  }
  const faultsIn = (root) => [...root.querySelectorAll('*')].flatMap(faultsOf)

  /** As a document of its own: nothing may move into the head, nor to the body's own tag. */
  const asDocument = (html) => {
    const { head, body, documentElement } = new DOMParser().parseFromString(html, 'text/html')
    const moved = [...documentElement.attributes, ...body.attributes].map(({ name }) => `<body ${name}>`)
    return [...moved, ...[...head.children].map(({ localName }) => `<${localName}> in the head`), ...faultsIn(body)]
  }

  /** In a living page, read back and put in again: a text that the parser changes would show. */
  const inPage = (html) => {
    const place = document.createElement('div')
    document.body.append(place)
    place.innerHTML = html
    const once = place.innerHTML
    place.innerHTML = once
    // A carriage return that a reference has made is read again as a line feed.
    const isSame = place.innerHTML.replaceAll('\r', '\n') === once.replaceAll('\r', '\n')
    const faults = isSame ? [] : ['another tree when it is read again']
    faults.push(...faultsIn(place))
    // A link is not followed: its address was looked at.
    place.addEventListener('click', (event) => event.preventDefault())
    for (const element of place.querySelectorAll('*'))
      for (const type of EVENTS) element.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }))
    place.remove()
    return faults
  }

  const settled = () => new Promise((resolve) => setTimeout(resolve, 20))

  globalThis.inThePage = {
    /** Faults of each HTML as a document that does not live. */
    parseAll: (htmls) => htmls.map(asDocument),

    /** Faults of each HTML, and what happened meanwhile. */
    async judgeAll(htmls) {
      const faults = htmls.map((html) => [...new Set([...asDocument(html), ...inPage(html)])])
      await settled()
      return { faults, seen: seen.splice(0) }
    },

    /** Faults of what the page itself was parsed from: one child of the body for each HTML, in order. */
    async judgePage(count) {
      await settled()
      const places = [...document.body.children]
      const strays = places.filter((place, n) => place.dataset.n !== String(n)).map(({ localName }) => `<${localName}>`)
      const lost = places.length === count ? [] : ['the page fell apart']
      return [...lost, ...strays, ...places.flatMap(faultsIn), ...seen.splice(0)]
    },
  }
})()

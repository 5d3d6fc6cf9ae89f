// The gateway's rules for document content, as data. The sanitizer applies them to a parsed tree, never to text.

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const TAGS = 'span b strong i em u s code a p blockquote ul ol li pre h1 h2 h3 h4 h5 h6 br table thead tbody tr th td'

/** Tags that cause the rejection of the whole payload. */
export const HOSTILE_TAGS = set('script style iframe object embed form')

/** Attribute → the tags that may have the attribute, and the pattern of its value. */
type AttributeRules = ReadonlyMap<string, { readonly tags: ReadonlySet<string>; readonly value: RegExp }>

/** The tags and attributes that remain after sanitizing. */
export interface MarkupRules {
  readonly tags: ReadonlySet<string>
  readonly attributes: AttributeRules
}

const ATTRIBUTES: AttributeRules = new Map([
  ['href', { tags: set('a'), value: /^/ }],
  ['title', { tags: set('a'), value: /^/ }],
  ['rel', { tags: set('a'), value: /^[a-z][a-z-]*( [a-z][a-z-]*)*$/i }],
  ['target', { tags: set('a'), value: /^[a-z_][\w-]*$/i }],
  ['colspan', { tags: set('td th'), value: /^([1-9]\d{0,2}|1000)$/ }],
  ['rowspan', { tags: set('td th'), value: /^([1-9]\d{0,2}|1000)$/ }],
])

/** Rules for the payload of a request. */
export const REQUEST_RULES: MarkupRules = { tags: set(TAGS), attributes: ATTRIBUTES }

/** Rules for the content of a new document, which also keep dividers and code languages. */
export const DOCUMENT_RULES: MarkupRules = {
  tags: set(`${TAGS} hr`),
  attributes: new Map([...ATTRIBUTES, ['class', { tags: set('code'), value: /^language-[\w+#.-]{1,64}$/ }]]),
}

/** Attributes with an address as value, in HTML, SVG and MathML. */
export const URL_ATTRIBUTES = set(
  'href src action formaction poster background cite data longdesc manifest icon profile usemap classid codebase ' +
    'lowsrc dynsrc from to by base',
)

/** Attributes with a list of addresses as value. */
export const URL_LIST_ATTRIBUTES = set('srcset imagesrcset ping archive values')

/** Schemes that cause the rejection of the whole payload. */
export const HOSTILE_SCHEMES = ['data', 'vbscript'] as const

/** Allowed schemes of links; a link with another scheme is dropped. A link without a scheme is relative and allowed. */
export const LINK_SCHEMES = set('http https mailto tel')

/** Minimum length of a secret, in characters. Shorter values are refused. */
export const MIN_SECRET_LENGTH = 4

/** Minimum length of a value that is hidden, in characters. Shorter values also occur in ordinary texts. */
const MIN_HIDDEN_LENGTH = 8

/** Words of at least {@link MIN_HIDDEN_LENGTH} letters that people write in place of a password or a key. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(
  (
    'password passphrase passwords changeme changethis placeholder username undefined anonymous administrator ' +
    'localhost database postgres postgresql production development disabled required optional redacted ' +
    'notneeded notrequired notused nosecret nopassword noauth nokey example yourpassword yoursecret ' +
    'yourkey yourapikey yourtoken mypassword mysecret secretkey secretvalue apikeyhere testtest testpassword testsecret'
  ).split(' '),
)

/** Says why a value cannot be a secret; null when it can. The text never contains the value. */
export function invalidSecret(value: string): string | null {
  if (!value.isWellFormed()) return 'it is no well-formed text'
  if (value.trim().length < MIN_SECRET_LENGTH)
    return `shorter than ${MIN_SECRET_LENGTH} characters it cannot be told from ordinary text`
  return 'secret:ku_'.includes(value) ? 'it cannot be told from what stands in its place' : null
}

/**
 * Says why a value cannot be hidden; null when it can. Redaction does not hide a short value or an ordinary word, because
 * they also occur in texts without the secret. A start that grants such a value is refused. The text never contains the
 * value.
 */
export function unhidable(value: string): string | null {
  const fault = invalidSecret(value)
  if (fault !== null) return fault
  const text = value.trim()
  if (text.length < MIN_HIDDEN_LENGTH)
    return `shorter than ${MIN_HIDDEN_LENGTH} characters it cannot be told from ordinary text`
  return PLACEHOLDERS.has(text.toLowerCase().replace(/[-_ ]/g, '')) ? ORDINARY_WORD : null
}

const ORDINARY_WORD = 'as an ordinary word it cannot be told from ordinary text'

/** Words in place of a key for a server without keys, such as `placeholder` or `not-needed`. */
const WORDS = /^(?=.{1,24}$)[a-z]+(?:[-_ ][a-z]+)*$/i

/** As {@link unhidable}, of a provider's key, which is never made of words alone. */
export const unhidableKey = (value: string): string | null =>
  unhidable(value) ?? (WORDS.test(value.trim()) ? ORDINARY_WORD : null)

/** Minimum length of a part of a longer base64 text. Shorter parts could match ordinary words. */
const MIN_EMBEDDED = 8

/**
 * The texts in which a value may appear: plain, base64 and base64url (whole, and inside a longer encoded text at each
 * of the three alignments), hex, URL-escaped and JSON-escaped.
 */
export function formsOf(secret: string): string[] {
  const value = secret.toWellFormed()
  const bytes = Buffer.from(value, 'utf8')
  const forms = new Set<string>([secret, value])
  const whole = bytes.toString('base64')
  forms.add(whole).add(whole.replace(/=+$/, ''))
  forms.add(bytes.toString('base64url'))
  for (const shift of [0, 1, 2]) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const inner = embedded(bytes, shift, encoding)
      if (inner.length >= MIN_EMBEDDED) forms.add(inner)
    }
  }
  const hex = bytes.toString('hex')
  forms.add(hex).add(hex.toUpperCase())
  for (const escaped of urlForms(value, bytes)) forms.add(escaped)
  for (const escaped of jsonForms(value)) forms.add(escaped)
  return [...forms]
}

/** The base64 characters that depend on the value alone when `shift` other bytes precede it. */
function embedded(bytes: Buffer, shift: number, encoding: 'base64' | 'base64url'): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString(encoding)
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
}

function urlForms(value: string, bytes: Buffer): string[] {
  const component = encodeURIComponent(value)
  const strict = component.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const form = new URLSearchParams([['', value]]).toString().slice(1)
  const every = [...bytes].map((b) => `%${b.toString(16).padStart(2, '0').toUpperCase()}`).join('')
  const upper = [component, strict, encodeURI(value), form, component.replaceAll('%20', '+'), every]
  return upper.flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())])
}

function jsonForms(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1)
  const ascii = once.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const twice = JSON.stringify(once).slice(1, -1)
  return [once, ascii, twice, once.replaceAll('/', '\\/')]
}

/** Minimum length of a secret, in characters. Shorter values cannot be distinguished from ordinary text. */
export const MIN_SECRET_LENGTH = 4

/**
 * Says why a value cannot be hidden; null when it can. Setting a secret, granting it to a run and redaction all use
 * this check. The text never contains the value.
 */
export function unhidable(value: string): string | null {
  if (!value.isWellFormed()) return 'it is no well-formed text'
  if (value.trim().length < MIN_SECRET_LENGTH)
    return `shorter than ${MIN_SECRET_LENGTH} characters it cannot be told from ordinary text`
  return 'secret:ku_'.includes(value) ? 'it cannot be told from what stands in its place' : null
}

/** The least characters of a provider's key. A shorter key is a placeholder for a server without keys. */
const MIN_KEY_LENGTH = 8
/** Words that stand in for a key where a server asks for none, such as `placeholder` or `not-needed`. */
const WORDS = /^(?=.{1,24}$)[a-z]+(?:[-_ ][a-z]+)*$/i

/** As {@link unhidable}, of a provider's key: a word in its place would hide this word in every text. */
export function unhidableKey(value: string): string | null {
  const short = value.trim().length < MIN_KEY_LENGTH
  if (!short && !WORDS.test(value.trim())) return unhidable(value)
  return `${short ? `shorter than ${MIN_KEY_LENGTH} characters` : 'as an ordinary word'} it cannot be told from ordinary text`
}

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

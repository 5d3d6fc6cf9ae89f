const META = /<meta[^>]{1,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i
const XML = /^<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w:.-]{1,40})/i
/** Where HTML has to name its encoding. In bytes. */
const PROLOGUE = 1024

/**
 * Bytes as text, in the encoding that a byte-order mark, the `Content-Type` or the document names, in this order (WHATWG).
 * Text that names none, or one that does not exist, is UTF-8, or windows-1252 where it is no UTF-8.
 */
export function decodePage(bytes: Uint8Array, named: string | null): string {
  const label = markOf(bytes) ?? known(named) ?? known(inDocument(bytes))
  if (label !== null) return new TextDecoder(label).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function markOf([a, b, c]: Uint8Array): string | null {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe ? 'utf-16le' : null
}

function inDocument(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, PROLOGUE)).toString('latin1')
  const label = (XML.exec(start) ?? META.exec(start))?.[1] ?? null
  // A document that is read byte by byte up to here cannot be UTF-16.
  return label !== null && /^utf-16/i.test(label) ? 'utf-8' : label
}

function known(label: string | null): string | null {
  try {
    return label === null ? null : new TextDecoder(label).encoding
  } catch {
    return null
  }
}

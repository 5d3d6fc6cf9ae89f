const META = /<meta[^>]{1,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i
const XML = /^<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w:.-]{1,40})/i
/** The part of an HTML document that may declare its encoding, in bytes. */
const PROLOGUE = 1024

/**
 * Decodes bytes in the encoding of a byte-order mark, the `Content-Type` or the document, in this order (WHATWG).
 * Without a known encoding, decodes as UTF-8, or as windows-1252 if the bytes are not valid UTF-8.
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
  // This declaration was readable byte by byte, so the document cannot be UTF-16.
  return label !== null && /^utf-16/i.test(label) ? 'utf-8' : label
}

function known(label: string | null): string | null {
  try {
    return label === null ? null : new TextDecoder(label).encoding
  } catch {
    return null
  }
}

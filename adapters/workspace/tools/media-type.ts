const SIGNATURES: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['25504446', 'application/pdf'],
  ['504b0304', 'application/zip'],
  ['1f8b', 'application/gzip'],
  ['7f454c46', 'application/x-elf'],
  ['0061736d', 'application/wasm'],
  ['53514c69746520666f726d6174203300', 'application/vnd.sqlite3'],
]
const EXTENSIONS: Readonly<Record<string, string>> = { webp: 'image/webp', ico: 'image/x-icon', wav: 'audio/wav' }

/** The media type of a binary file, by its first bytes, then by its name. */
export function mediaType(path: string, bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.subarray(0, 16)).toString('hex')
  const signed = SIGNATURES.find(([signature]) => hex.startsWith(signature))
  return signed?.[1] ?? EXTENSIONS[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
}

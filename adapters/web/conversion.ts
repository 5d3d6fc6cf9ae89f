/** A document to convert: HTML as UTF-8, or a PDF. */
export interface Conversion {
  readonly kind: 'html' | 'pdf'
  readonly bytes: Uint8Array
  /** The base address of relative links. */
  readonly base: string
  /** The URLs of the libraries' modules. */
  readonly modules: Readonly<Record<'html' | 'pdf', string>>
  /** The longest text to return, in UTF-8 bytes. */
  readonly maxTextBytes: number
}

/** The argument of the process, as JSON. The process reads the document from stdin and writes the text to stdout. */
export interface ConversionTask extends Omit<Conversion, 'bytes'> {
  /** The exit code for an unreadable document. */
  readonly invalidExit: number
}

/** The content to be converted: HTML as UTF-8, or a PDF. */
export interface Conversion {
  readonly kind: 'html' | 'pdf'
  readonly bytes: Uint8Array
  /** The address that relative links lead from. */
  readonly base: string
  /** Addresses of the libraries' modules. */
  readonly modules: Readonly<Record<'html' | 'pdf', string>>
  /** The part of the text that is given back, in UTF-8 bytes. */
  readonly maxTextBytes: number
}

/** The argument of the process, as JSON; the document comes through standard input, the text goes to standard output. */
export interface Task extends Omit<Conversion, 'bytes'> {
  /** How the process ends where the document cannot be read. */
  readonly invalidExit: number
}

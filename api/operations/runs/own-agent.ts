/** The kind of keepup's own agent. */
export const OWN_AGENT = 'keepup'

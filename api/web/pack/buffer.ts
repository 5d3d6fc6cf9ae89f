import { Buffer } from 'buffer'

// The verifier of packs uses the Buffer of Node. Import this file before it.
Object.assign(globalThis, { Buffer })

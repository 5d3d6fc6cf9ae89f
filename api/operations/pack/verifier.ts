import { readFileSync } from 'node:fs'

const PLACE = new URL('../../docs/verify.py', import.meta.url)

/** This program's copy of `verify.py`. */
export const verifier = (): Uint8Array => readFileSync(PLACE)

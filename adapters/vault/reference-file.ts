import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { REFERENCE } from '../../domain/secrets/reference.ts'
import { yielder } from '../../domain/stream/runtime/yield-to-event-loop.ts'
import { isSealed, type Sealed } from './cipher.ts'
import type { HeldValues } from './environment-values.ts'
import { appendPrivate, checkPrivate } from './private-file.ts'

/** The first line. It tells a file without references from a file that was emptied. */
export const REFERENCES = '# what references stand for; only ever added to\n'

/** The value of a reference: an encrypted text, or the name of the variable or setting that holds it. */
export type Kept = Sealed | { readonly name: string }

/** Encrypts and decrypts the value of one reference. */
interface References {
  /** Under the key of now, which is looked up once; no other process may rotate it meanwhile. */
  sealing(): (reference: string, text: string) => Sealed
  unseal(reference: string, kept: Sealed): string
}

export const lineOf = (reference: string, kept: Kept): string => `${JSON.stringify([reference, kept])}\n`

/** One entry. Null for the first line, and for the half line of a process that died while it wrote. */
export function entryIn(line: string): [string, Kept] | null {
  try {
    const [reference, kept] = JSON.parse(line) as [unknown, unknown]
    const isNamed = typeof (kept as { name?: unknown } | null)?.name === 'string'
    const known = isSealed(kept) || isNamed
    return typeof reference === 'string' && known ? [reference, kept as Kept] : null
  } catch {
    return null
  }
}

/** So many entries are written at once: a long text may hold very many secrets. */
const AT_ONCE = 2_048

/** The values of references, one JSON line each. The file only grows, so remembering costs only what is new. */
export function referenceFile(path: string, cipher: References, held: HeldValues) {
  const known = new Map<string, Kept>()
  const named = new Set<string>()
  let read = 0
  let file = ''
  let rest = ''
  const readOn = () => {
    if (!checkPrivate(path)) return
    const descriptor = openSync(path, 'r')
    try {
      const { ino, birthtimeNs, size } = fstatSync(descriptor, { bigint: true })
      const found = `${ino} ${birthtimeNs}`
      // Another process has rotated the key and replaced the file.
      if (found !== file || Number(size) < read) {
        known.clear()
        named.clear()
        ;[file, read, rest] = [found, 0, '']
      }
      const fresh = Buffer.alloc(Number(size) - read)
      readSync(descriptor, fresh, 0, fresh.length, read)
      read += fresh.length
      const lines = (rest + fresh.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const entry = entryIn(Buffer.from(line, 'latin1').toString('utf8'))
        if (entry === null) continue
        known.set(...entry)
        if ('name' in entry[1]) named.add(entry[1].name)
      }
    } finally {
      closeSync(descriptor)
    }
  }
  /** Reads on where the reference is unknown: another process may have added it. */
  const keptOf = (reference: string): Kept | null => {
    if (!known.has(reference)) readOn()
    return known.get(reference) ?? null
  }
  /** The whole value; null where it or a part of it cannot be resolved. */
  const get = (reference: string): string | null => {
    const kept = keptOf(reference)
    if (kept === null) return null
    if ('name' in kept) return held.resolve(kept.name, reference)
    let whole = true
    const text = cipher.unseal(reference, kept).replace(REFERENCE, (inner) => {
      const value = get(inner)
      if (value === null && keptOf(inner) !== null) whole = false
      return value ?? inner
    })
    return whole ? text : null
  }
  readOn()
  return {
    get,
    /** Names of the variables and settings that references name. */
    names: (): string[] => {
      readOn()
      return [...named]
    },
    /** The number of references with a value. */
    count: (): number => {
      readOn()
      return known.size
    },
    knows: (reference: string): boolean => keptOf(reference) !== null,
    add: async (made: ReadonlyMap<string, string>): Promise<void> => {
      // No other process adds meanwhile.
      readOn()
      const seal = cipher.sealing()
      const yieldToEventLoop = yielder()
      let fresh = new Map<string, Kept>()
      const write = async () => {
        if (fresh.size === 0) return
        await appendPrivate(path, `\n${[...fresh].map((entry) => lineOf(...entry)).join('')}`)
        readOn()
        fresh = new Map()
      }
      for (const [reference, text] of made) {
        if (known.has(reference)) continue
        const name = held.nameOf(text)
        const { text: rest, made: inner } = held.without(text)
        for (const [one, of] of inner) if (one !== reference && !known.has(one)) fresh.set(one, { name: of })
        fresh.set(reference, name === null ? seal(reference, rest) : { name })
        if (fresh.size >= AT_ONCE) await write()
        await yieldToEventLoop()
      }
      await write()
    },
  }
}

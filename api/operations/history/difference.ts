import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Json } from '../../../domain/log/json.ts'

/** One place where two JSON values differ. `path` is a JSON pointer. A side without the value is absent. */
export interface ValueDifference {
  readonly path: string
  readonly a?: Json
  readonly b?: Json
}

const isObject = (v: Json | undefined): v is { readonly [key: string]: Json } =>
  typeof v === 'object' && v !== null && !Array.isArray(v)

const pointer = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The differences of two JSON values, by member and by array index. Linear in their size. */
export function differences(a: Json | undefined, b: Json | undefined, path = ''): ValueDifference[] {
  if (isObject(a) && isObject(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
    return keys.flatMap((k) => differences(own(a, k), own(b, k), pointer(path, k)))
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const length = Math.max(a.length, b.length)
    return Array.from({ length }, (_, i) => differences(a[i], b[i], pointer(path, i))).flat()
  }
  if (a === b) return []
  return [{ path, ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) }]
}

const own = (o: { readonly [key: string]: Json }, k: string): Json | undefined =>
  Object.hasOwn(o, k) ? o[k] : undefined

/** The common start of two histories, and the rest of each. */
export function afterCommon<T>(a: readonly T[], b: readonly T[]): { common: number; onlyA: T[]; onlyB: T[] } {
  const text = (v: T) => Buffer.from(canonicalBytes(v)).toString('utf8')
  let common = 0
  while (common < a.length && common < b.length && text(a[common]!) === text(b[common]!)) common++
  return { common, onlyA: a.slice(common), onlyB: b.slice(common) }
}

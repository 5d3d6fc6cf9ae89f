import { formsOf, invalidSecret } from '../../domain/secrets/forms.ts'
import { reference } from '../../domain/secrets/redactor.ts'

/** Values of variables and settings. The vault refers to them by name and never stores them. */
export interface HeldValues {
  /** The name whose value, in any form, is this text; null where there is none. */
  nameOf(text: string): string | null
  /** The text of a reference, computed from the present value of the name; null where the value is another one or missing. */
  resolve(name: string, reference: string): string | null
  /** Replaces the values of secret names in a text by references. `made`: these references with their names. */
  without(text: string): { readonly text: string; readonly made: ReadonlyMap<string, string> }
  /** Counts a variable's value among the secrets. */
  asked(name: string): void
}

/** Values of at least this many characters may be tokens. A shorter value counts only where a run asked for it as a secret. */
const MIN_TOKEN = 16
/** The name of all values of the settings. */
export const SETTINGS = 'settings'

export function heldValues(
  key: Uint8Array,
  env: NodeJS.ProcessEnv,
  secretNames: readonly string[],
  settings: readonly string[],
): HeldValues {
  const secret = new Set([...secretNames, SETTINGS])
  const valuesOf = (name: string): string[] => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    const all = name === SETTINGS ? settings : value === undefined ? [] : [value, value.trim()]
    return [...new Set(all)].filter((one) => invalidSecret(one) === null)
  }
  const texts = new Map<string, Map<string, string>>()
  /** Texts with their names, the longest first: of the secret names, or of all variables. */
  const known = (of: 'secret' | 'all'): Map<string, string> => {
    const id = `${of} ${secret.size}`
    const before = texts.get(id)
    if (before !== undefined) return before
    const found = new Map<string, string>()
    for (const name of of === 'secret' ? secret : new Set([...secret, ...Object.keys(env)])) {
      const values = valuesOf(name).filter((value) => secret.has(name) || value.length >= MIN_TOKEN)
      for (const form of values.flatMap(formsOf)) if (!found.has(form)) found.set(form, name)
    }
    const longestFirst = new Map([...found].sort(([a], [b]) => b.length - a.length))
    texts.set(id, longestFirst)
    return longestFirst
  }
  return {
    nameOf: (text) => known('all').get(text) ?? null,
    resolve: (name, ref) =>
      valuesOf(name)
        .flatMap(formsOf)
        .find((form) => reference(key, form) === ref) ?? null,
    without: (text) => {
      const made = new Map<string, string>()
      let rest = text
      for (const [form, name] of known('secret')) {
        if (form.length < MIN_FORM || !rest.includes(form)) continue
        made.set(reference(key, form), name)
        rest = rest.replaceAll(form, reference(key, form))
      }
      return { text: rest, made }
    },
    asked: (name) => void secret.add(name),
  }
}

/** A shorter value, in characters, occurs in longer texts by chance. */
const MIN_FORM = 8

import type { Vault } from '../../../domain/ports/index.ts'

/** An in-memory vault with these named values. */
export function memoryVault(values: Readonly<Record<string, string>>): Vault {
  const references = new Map<string, string>()
  return {
    get: async (name) => values[name] ?? null,
    set: async () => undefined,
    remove: async () => false,
    names: async () => Object.keys(values),
    retired: async () => [],
    held: async () => [],
    stamp: async () => '',
    referenceKey: async () => new Uint8Array(32).fill(7),
    remember: async (made) => {
      for (const [reference, value] of made) references.set(reference, value)
    },
    resolve: (reference) => references.get(reference) ?? null,
  }
}

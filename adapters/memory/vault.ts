import type { Random, RetiredValue, Vault } from '../../domain/ports/index.ts'
import { refuseInvalid } from '../vault/refuse-invalid.ts'
import { withRetired } from '../vault/retired.ts'

/** Named secrets and the values of references in memory. Values of the environment come first, as in the file's vault. */
export class MemoryVault implements Vault {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #key: Uint8Array
  readonly #secrets = new Map<string, string>()
  readonly #references = new Map<string, string>()
  #retired: readonly RetiredValue[] = []
  #changes = 0

  constructor({ random, env = {} }: { random: Random; env?: Readonly<Record<string, string | undefined>> }) {
    this.#env = env
    this.#key = random.bytes(32)
  }

  async get(name: string): Promise<string | null> {
    const given = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined
    return given?.trim() ? given : (this.#secrets.get(name) ?? null)
  }

  async set(name: string, value: string): Promise<void> {
    refuseInvalid(name, value)
    if (this.#secrets.get(name) !== value) this.#retire(name)
    this.#secrets.set(name, value)
    this.#changes += 1
  }

  async remove(name: string): Promise<boolean> {
    this.#retire(name)
    this.#changes += 1
    return this.#secrets.delete(name)
  }

  async names(): Promise<readonly string[]> {
    return [...this.#secrets.keys()].sort()
  }

  async retired(): Promise<readonly RetiredValue[]> {
    return [...this.#retired]
  }

  /** Empty: the values of all references are in memory. */
  async held(): Promise<readonly string[]> {
    return []
  }

  async stamp(): Promise<string> {
    return String(this.#changes)
  }

  async referenceKey(): Promise<Uint8Array> {
    return Uint8Array.from(this.#key)
  }

  async remember(references: ReadonlyMap<string, string>): Promise<void> {
    for (const [reference, value] of references) this.#references.set(reference, value)
  }

  resolve(reference: string): string | null {
    return this.#references.get(reference) ?? null
  }

  #retire(name: string): void {
    const value = this.#secrets.get(name)
    if (value !== undefined) this.#retired = withRetired(this.#retired, { name, value })
  }
}

import type { VersionSecrets } from '../../../adapters/workspace/shadow-repository.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { Vault } from '../../../domain/ports/index.ts'
import type { SecretBoundary } from '../../../domain/ports/runtime.ts'
import { invalidSecret, unhidable } from '../../../domain/secrets/forms.ts'
import {
  hasReferences,
  type Redacted,
  type Redactor,
  type References,
  resolveReferences,
} from '../../../domain/secrets/redactor.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import { Problem } from '../../operations/problem.ts'
import { sharedRedactor } from './redactors.ts'
import { mustRunTheSame, secretsFor } from './secret-use.ts'

/** The secret boundary of a run, and of its workspace versions. */
export interface Boundary {
  readonly secrets: SecretBoundary
  readonly versions: VersionSecrets
}

/** The problem for a secret with an unhidable value. The value of a run's secret must be hidden everywhere. */
export const unusable = (name: string, fault: string) =>
  new Problem(
    'SECRET_UNHIDABLE',
    `the value of ${name} could not be hidden: ${fault}; set another one, or start the run without it`,
  )

/**
 * Opens the boundary of a run. Hidden are the run's secrets, the vault's, and the providers' keys. New references are
 * collected and stored in the vault before anything redacted is appended.
 */
export async function openBoundary(
  vault: Vault,
  providerKeys: readonly string[],
  spec: Pick<AgentSpec, 'secrets' | 'policy'>,
): Promise<Boundary> {
  let seen = await vault.stamp()
  let redactor = await redactorOf(vault, providerKeys, spec)
  const pending = new Map<string, string>()
  const collect = (references: References) => {
    for (const [reference, value] of references) pending.set(reference, value)
  }
  const taken = <T>({ value, references }: Redacted<T>): T => {
    collect(references)
    return value
  }
  const secrets: SecretBoundary = {
    holdsKnown: (text) => redactor.holdsKnown(text),
    text: (text) => taken(redactor.redactText(text)),
    json: <T>(value: T) => taken(redactor.redactJson(value as Json)) as T,
    arguments: (toolName, args) => taken(redactor.redactArguments(toolName, args)),
    result: (value) => taken(redactor.redactResult(value)),
    stream() {
      const stream = redactor.redactStream()
      const shown = (text: string) => {
        collect(stream.taken())
        return text
      }
      return { push: (text) => shown(stream.push(text)), end: () => shown(stream.end()) }
    },
    texts() {
      const texts = redactor.redactTexts()
      const shown = (ready: string[]) => {
        collect(texts.taken())
        return ready
      }
      return { push: (text) => shown(texts.push(text)), end: () => shown(texts.end()) }
    },
    async keep() {
      if (pending.size === 0) return
      const made = new Map(pending)
      await vault.remember(made)
      for (const [reference, value] of made) if (pending.get(reference) === value) pending.delete(reference)
    },
    // Called at each effect, so that its outcome hides secrets that any process has set before the effect ended. The
    // check takes 2 to 4 µs. A file system notification could arrive after the outcome.
    async refresh() {
      const now = await vault.stamp()
      if (now === seen) return
      redactor = await redactorOf(vault, providerKeys, spec)
      seen = now
    },
    resolve: async (args, name, sendsTo) => {
      if (!hasReferences(args)) return args
      const call = { name, sendsTo, args }
      const resolved = resolveReferences(args, await secretsFor(vault, providerKeys, spec.secrets, call))
      mustRunTheSame(spec.secrets, call, resolved)
      return resolved
    },
  }
  const versions: VersionSecrets = {
    redactBytes: (bytes) => redactor.redactBytes(bytes),
    remember: (references) => vault.remember(references),
    resolve: (reference) => vault.resolve(reference),
  }
  return { secrets, versions }
}

/**
 * Hides all present and former secrets with hidable values, and all present and former values of this run's secrets: a
 * start refuses values that cannot be hidden, but a run may be older than this rule, or a value may have changed since.
 */
async function redactorOf(
  vault: Vault,
  providerKeys: readonly string[],
  spec: Pick<AgentSpec, 'secrets' | 'policy'>,
): Promise<Redactor> {
  const known = [...providerKeys]
  const given = new Set(spec.secrets.map(({ name }) => name))
  for (const name of new Set([...given, ...(await vault.names()), ...(await vault.held())])) {
    const value = await vault.get(name)
    if (value === null) continue
    const fault = given.has(name) ? invalidSecret(value) : unhidable(value)
    if (fault === null) known.push(value)
    // A secret that this run does not use must not prevent the run.
    else if (given.has(name)) throw unusable(name, fault)
  }
  const before = (await vault.retired())
    .filter(({ name, value }) => (given.has(name ?? '') ? invalidSecret : unhidable)(value) === null)
    .map(({ value }) => value)
  return sharedRedactor({
    key: await vault.referenceKey(),
    known: [...new Set([...known, ...before])],
    patterns: spec.policy.secretPatterns,
  })
}

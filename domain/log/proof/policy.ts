import { echo } from '../issues.ts'
import { equalBytes } from './encoding.ts'
import { formatVkey, type NoteKey, type NoteSignature, parseVkey } from './note.ts'
import { malformed } from './proof-error.ts'

// Files of trusted keys, https://c2sp.org/tlog-policy.

export interface PolicyLog {
  readonly key: NoteKey
  readonly url?: string
}

/** A witness under a name that the policy gives it. */
export interface PolicyWitness extends PolicyLog {
  readonly name: string
}

/** A group cosigned a checkpoint when `threshold` of its members did. */
export interface PolicyGroup {
  readonly name: string
  readonly threshold: number
  readonly members: readonly string[]
}

/** The trusted logs and witnesses. `quorum`: the witness or group that must have cosigned; null: no cosignature needed. */
export interface TrustPolicy {
  readonly logs: readonly PolicyLog[]
  readonly witnesses: readonly PolicyWitness[]
  readonly groups: readonly PolicyGroup[]
  readonly quorum: string | null
}

/** The word of a policy for no quorum. No witness can have it as its name. */
export const NO_QUORUM = 'none'
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** The text of a policy. Throws `MALFORMED` for a policy that cannot be written, such as one with a space in a name. */
export function formatPolicy({ logs, witnesses, groups, quorum }: TrustPolicy): string {
  const lines = [
    ...logs.map(({ key, url }) => ['log', formatVkey(key), ...(url === undefined ? [] : [url])]),
    ...witnesses.map(({ name, key, url }) => ['witness', name, formatVkey(key), ...(url === undefined ? [] : [url])]),
    ...groups.map(({ name, threshold, members }) => ['group', name, String(threshold), ...members]),
    ['quorum', quorum ?? NO_QUORUM],
  ]
  for (const word of lines.flat())
    if (word === '' || /[ \t\n]/.test(word))
      throw malformed(`"${echo(word)}" is not one word; choose names and URLs without spaces`)
  const text = lines.map((words) => `${words.join(' ')}\n`).join('')
  parsePolicy(text)
  return text
}

/** Parses a policy. Throws `MALFORMED`. */
export function parsePolicy(text: string): TrustPolicy {
  const logs: PolicyLog[] = []
  const witnesses: PolicyWitness[] = []
  const groups: PolicyGroup[] = []
  const defined = new Set<string>()
  const grouped = new Set<string>()
  let quorum: string | null | undefined
  for (const [at, line] of text.split('\n').entries()) {
    const wrong = (message: string) => malformed(`line ${at + 1} of the policy: ${message}; see c2sp.org/tlog-policy`)
    const define = (name: string) => {
      if (name === NO_QUORUM || defined.has(name)) throw wrong(`the name "${echo(name)}" is taken`)
      defined.add(name)
    }
    const own = (key: NoteKey, others: readonly PolicyLog[]) => {
      if (others.some((other) => equalBytes(other.key.publicKey, key.publicKey)))
        throw wrong(`the key of "${echo(key.name)}" is there twice`)
      return key
    }
    if (CONTROL.test(line) || !line.isWellFormed()) throw wrong('it contains control characters or broken characters')
    const words = line.split(/[ \t]+/).filter((word) => word !== '')
    const [keyword, first, second, third] = words
    if (keyword === undefined || keyword.startsWith('#')) continue
    if (keyword === 'log' && first !== undefined && words.length <= 3) {
      logs.push({ key: own(parseVkey(first), logs), ...(second !== undefined && { url: second }) })
    } else if (keyword === 'witness' && first !== undefined && second !== undefined && words.length <= 4) {
      define(first)
      const key = own(parseVkey(second), witnesses)
      witnesses.push({ name: first, key, ...(third !== undefined && { url: third }) })
    } else if (keyword === 'group' && first !== undefined && second !== undefined && third !== undefined) {
      const members = words.slice(3)
      for (const member of members) {
        if (!defined.has(member)) throw wrong(`"${echo(member)}" is not defined above`)
        if (grouped.has(member)) throw wrong(`"${echo(member)}" is already in a group`)
        grouped.add(member)
      }
      define(first)
      const threshold = second === 'all' ? members.length : second === 'any' ? 1 : Number(second)
      if (!/^(?:all|any|[1-9]\d{0,8})$/.test(second) || threshold > members.length)
        throw wrong(`"${echo(second)}" is not all, any or a number from 1 to ${members.length}`)
      groups.push({ name: first, threshold, members })
    } else if (keyword === 'quorum' && first !== undefined && words.length === 2) {
      if (quorum !== undefined) throw wrong('there is a second quorum')
      if (first !== NO_QUORUM && !defined.has(first)) throw wrong(`"${echo(first)}" is not defined above`)
      quorum = first === NO_QUORUM ? null : first
    } else throw wrong(`"${echo(line)}" is not a log, witness, group or quorum`)
  }
  if (quorum === undefined) throw malformed('the policy has no quorum; add a line "quorum none"')
  return { logs, witnesses, groups, quorum }
}

/** Whether the witnesses that the quorum requires are among these verified signatures of a checkpoint. */
export function hasQuorum({ witnesses, groups, quorum }: TrustPolicy, signatures: readonly NoteSignature[]): boolean {
  if (quorum === null) return true
  const cosigned = new Set(
    witnesses
      .filter(({ key }) => signatures.some((one) => one.key.name === key.name && one.key.id === key.id))
      .map(({ name }) => name),
  )
  // A group's members are defined before the group.
  for (const { name, threshold, members } of groups)
    if (members.filter((member) => cosigned.has(member)).length >= threshold) cosigned.add(name)
  return cosigned.has(quorum)
}

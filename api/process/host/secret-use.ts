import type { Vault } from '../../../domain/ports/index.ts'
import type { GivenSecret } from '../../../domain/secrets/destinations.ts'
import { grantsFor, grantText, sendsAway, serverOf } from '../../../domain/secrets/destinations.ts'
import { formsOf, MIN_SECRET_LENGTH, unhidable } from '../../../domain/secrets/forms.ts'
import { secretUnavailable } from '../../../domain/secrets/redactor.ts'

/**
 * Resolves the references in tools' arguments for one run, with the current values of the vault. A reference recorded
 * with a name at the start resolves to the value of that name; a reference to an unnamed text resolves to that text. A
 * text may contain a value with a present or former name. Its reference resolves only if the run has this name and the
 * name still has that value. Otherwise a person who has seen a reference could use the secret, even after its removal.
 * A server's tool resolves only names granted to its server. A tool that sends its arguments to other hosts resolves
 * none. The returned function throws ToolError SECRET_UNAVAILABLE.
 */
export async function secretsFor(
  vault: Vault,
  providerKeys: readonly string[],
  given: readonly GivenSecret[],
  toolName: string,
): Promise<(reference: string) => string | null> {
  const secrets = grantsFor(given, toolName)
  const server = serverOf(toolName)
  const holds = async (names: readonly string[]) =>
    Promise.all(names.map(async (name) => ({ value: await vault.get(name), why: notGiven(name) })))
  const own = (await holds(secrets.map(({ name }) => name))).map(({ value }) => value)
  const others = [
    ...(await holds([...(await vault.names()), ...(await vault.held())])),
    ...providerKeys.map((value) => ({ value, why: "it stands for a provider's key, which no tool is given" })),
    ...(await vault.retired()).map((value) => ({ value, why: FORMER })),
  ]
  const ownForms = new Set(own.flatMap((value) => (value === null ? [] : formsOf(value))))
  const foreign = others.filter(({ value }) => value !== null && !own.includes(value) && unhidable(value) === null) as {
    value: string
    why: string
  }[]

  return (reference) => {
    if (sendsAway(toolName)) throw secretUnavailable(reference, away(toolName))
    const named = [...secrets.keys()].filter((i) => secrets[i]?.reference === reference)
    for (const i of named) if (own[i] != null) return own[i]
    for (const i of named) throw secretUnavailable(reference, noValue(secrets[i]!.name))
    const name = given.find((one) => one.reference === reference)?.name
    if (server !== null) throw secretUnavailable(reference, notGranted({ name: name ?? 'NAME', server }))
    if (name !== undefined) throw secretUnavailable(reference, notGranted({ name }))
    const text = vault.resolve(reference)
    if (text === null || ownForms.has(text)) return text
    const found = foreign.find(({ value }) => standsIn(text, value))
    if (found !== undefined) throw secretUnavailable(reference, found.why)
    return text
  }
}

const standsIn = (text: string, value: string): boolean =>
  formsOf(value).some((form) => form.length >= MIN_SECRET_LENGTH && text.includes(form))

const noValue = (name: string) =>
  `${name} holds no value any more: it was removed, or is not set on this host; keepup secrets set ${name}`
const away = (toolName: string) =>
  `${toolName} sends its arguments out of this machine, and no secret may go there; leave the secret out`
const notGranted = (grant: Pick<GivenSecret, 'name' | 'server'>) =>
  `it was not granted to ${grant.server === undefined ? 'built-in tools' : `the server "${grant.server}"`}; ` +
  `start a run with --secret ${grantText(grant)}`
const notGiven = (name: string) => `${name} was not given to this run; start one with --secret ${name}`
const FORMER =
  'its secret was replaced or removed, or was not given to this run; use the reference of one that was, or start a run ' +
  'with --secret NAME'

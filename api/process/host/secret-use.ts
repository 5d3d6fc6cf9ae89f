import { ToolError } from '../../../domain/calls/errors.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Vault } from '../../../domain/ports/index.ts'
import {
  type Addressed,
  type Destination,
  destinationOf,
  type GivenSecret,
  grantsFor,
} from '../../../domain/secrets/destinations.ts'
import { formsOf, invalidSecret, MIN_SECRET_LENGTH, unhidable } from '../../../domain/secrets/forms.ts'
import { grantText } from '../../../domain/secrets/grant-text.ts'
import { secretUnavailable } from '../../../domain/secrets/redactor.ts'

/** A call with references in its arguments. */
interface SendingCall extends Addressed {
  readonly args: JsonObject
}

/**
 * Resolves the references in tools' arguments for one run, with the current values of the vault. A reference recorded
 * with a name at the start resolves to the value of that name; a reference to an unnamed text resolves to that text. A
 * text may contain a value with a present or former name. Its reference resolves only if the run has this name and the
 * name still has that value. Otherwise a person who has seen a reference could use the secret, even after its removal.
 * A call that sends its arguments to a server or a host resolves only names granted to it, and a command line only
 * names granted to each of its programs. The returned function throws ToolError SECRET_UNAVAILABLE.
 */
export async function secretsFor(
  vault: Vault,
  providerKeys: readonly string[],
  given: readonly GivenSecret[],
  call: SendingCall,
): Promise<(reference: string) => string | null> {
  const to = destinationOf(call, call.args)
  const secrets = grantsFor(given, to)
  const values = (names: readonly string[]) => Promise.all(names.map((name) => vault.get(name)))
  const holds = async (names: readonly string[], why: (name: string) => string) =>
    (await values(names)).map((value, index) => ({ value, why: why(names[index] as string) }))
  const own = await values(secrets.map(({ name }) => name))
  const givenNames = [...new Set(given.map(({ name }) => name))]
  const others = [
    ...(await holds(givenNames, (name) => notGranted(name, call.name, to))),
    ...(await holds([...(await vault.names()), ...(await vault.held())], notGiven)),
    ...providerKeys.map((value) => ({ value, why: "it stands for a provider's key, which no tool is given" })),
    ...(await vault.retired()).map(({ value }) => ({ value, why: FORMER })),
  ]
  const ownForms = new Set(own.flatMap((value) => (value === null ? [] : formsOf(value))))
  const foreign = others.filter(
    ({ value }) => value !== null && !own.includes(value) && invalidSecret(value) === null,
  ) as {
    value: string
    why: string
  }[]
  // A secret is one part of an address, and never several.
  const written = call.name === 'read_url' ? encodeURIComponent : (value: string) => value

  return (reference) => {
    const named = [...secrets.keys()].filter((i) => secrets[i]?.reference === reference)
    for (const i of named) if (own[i] != null) return written(own[i])
    for (const i of named) throw secretUnavailable(reference, noValue(secrets[i]!.name))
    const name = given.find((one) => one.reference === reference)?.name
    if (to.kind === 'server' || to.kind === 'host' || name !== undefined)
      throw secretUnavailable(reference, notGranted(name ?? 'NAME', call.name, to))
    const text = vault.resolve(reference)
    if (text === null || ownForms.has(text)) return text
    const found = foreign.find(({ value }) => standsIn(text, value))
    if (found !== undefined) throw secretUnavailable(reference, found.why)
    return text
  }
}

/**
 * Throws ToolError SECRET_UNAVAILABLE if a value changes the programs of a command line that a secret was granted to: a
 * shell interprets characters of the value.
 */
export function mustRunTheSame(given: readonly GivenSecret[], { args, ...call }: SendingCall, resolved: JsonObject) {
  const [planned, now] = [destinationOf(call, args), destinationOf(call, resolved)]
  if (!grantsFor(given, planned).some(({ command }) => command !== undefined)) return
  if (JSON.stringify(planned) === JSON.stringify(now)) return
  throw new ToolError(
    'SECRET_UNAVAILABLE',
    'the value of a secret has characters that a shell interprets, so nothing was run; put its reference between single quotes',
    { beforeEffect: true },
  )
}

/** Whether a text contains a value in any form. An unhidable value must be the whole text: it also occurs in others. */
const standsIn = (text: string, value: string): boolean =>
  unhidable(value) === null
    ? formsOf(value).some((form) => form.length >= MIN_SECRET_LENGTH && text.includes(form))
    : formsOf(value).includes(text)

const noValue = (name: string) =>
  `${name} holds no value any more: it was removed, or is not set on this host; keepup secrets set ${name}`

/** Why a destination gets no value of this name, and the remedy. */
function notGranted(name: string, toolName: string, to: Destination): string {
  const withGrant = (grant: Parameters<typeof grantText>[0]) => `start a run with --secret ${grantText(grant)}`
  switch (to.kind) {
    case 'server':
      return `it was not granted to the server "${to.server}"; ${withGrant({ name, server: to.server })}`
    case 'host': {
      const away = `${toolName} sends its arguments out of this machine`
      return to.host === null
        ? `${away}, and no secret may go to this address; leave the secret out, or put it into the path or the query ` +
            'of an https:// address without user and password'
        : `${away}, and it was not granted to ${to.host}; leave the secret out, or ` +
            withGrant({ name, host: to.host })
    }
    case 'command':
      return to.programs === null
        ? 'it was granted to single programs, and the programs of this command line cannot be told: write plain words ' +
            `without expansions, redirections and assignments, or ${withGrant({ name })}`
        : `it was not granted to each program of this command line (${to.programs.join(', ')}); ` +
            to.programs.map((command) => withGrant({ name, command })).join(' and ')
    default:
      return `it was not granted to built-in tools; ${withGrant({ name })}`
  }
}

const notGiven = (name: string) => `${name} was not given to this run; start one with --secret ${name}`
const FORMER =
  'its secret was replaced or removed, or was not given to this run; use the reference of one that was, or start a run ' +
  'with --secret NAME'

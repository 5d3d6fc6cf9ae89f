import { z } from 'zod'
import { programsOf } from '../calls/command-line.ts'
import type { JsonObject } from '../log/json.ts'
import { hostOfAddress, hostOfGrant } from './hosts.ts'
import { WHOLE_REFERENCE } from './reference.ts'

/**
 * A reference to a secret that tools may receive. The spec never contains the value. The value is looked up when a tool
 * runs, so that a replaced value takes effect. `server`: only tools of this server receive the value; `host`: only
 * requests to this host (see hosts.ts); `command`: only command lines of this program. None of them: all built-in tools
 * that send nothing to another machine. A secret can have several grants.
 */
export const GivenSecret = z.strictObject({
  name: z.string().min(1),
  reference: z.string().regex(WHOLE_REFERENCE),
  server: z.string().min(1).optional(),
  host: z.string().min(1).optional(),
  command: z.string().min(1).optional(),
})
export type GivenSecret = z.infer<typeof GivenSecret>

/** The part of a {@link GivenSecret} that a person types. */
export type SecretGrant = Omit<GivenSecret, 'reference'>

/** Where a call sends its arguments. */
export type Destination =
  | { readonly kind: 'server'; readonly server: string }
  /** `host` null: no secret may go to the address. */
  | { readonly kind: 'host'; readonly host: string | null }
  /** `programs` null: a shell could start any program. */
  | { readonly kind: 'command'; readonly programs: readonly string[] | null }
  | { readonly kind: 'local' }

/** The parts of a tool's spec that decide where its arguments go. */
export interface Addressed {
  readonly name: string
  readonly sendsTo?: string | undefined
}

/** The server in a tool's name `server:tool`; null: the tool is built in. */
export const serverOf = (toolName: string): string | null => {
  const at = toolName.indexOf(':')
  return at < 0 ? null : toolName.slice(0, at)
}

/** Where a call sends its arguments. References in the arguments are not yet resolved. */
export function destinationOf({ name, sendsTo }: Addressed, args: JsonObject): Destination {
  const server = serverOf(name)
  if (server !== null) return { kind: 'server', server }
  if (name === 'read_url') return { kind: 'host', host: hostOfAddress(args.url) }
  if (name === 'search_web') return { kind: 'host', host: sendsTo ?? null }
  if (name !== 'run_command') return { kind: 'local' }
  return { kind: 'command', programs: typeof args.command === 'string' ? programsOf(args.command) : null }
}

const isLocal = ({ server, host, command }: SecretGrant) =>
  server === undefined && host === undefined && command === undefined

/** The grants that apply to a destination, at most one of each name. */
export function grantsFor(secrets: readonly GivenSecret[], to: Destination): readonly GivenSecret[] {
  const covers = (grant: GivenSecret): boolean => {
    if (to.kind === 'server') return grant.server === to.server
    if (to.kind === 'host') return to.host !== null && grant.host === to.host
    if (isLocal(grant)) return true
    const granted = (program: string) => secrets.some((one) => one.name === grant.name && one.command === program)
    return to.kind === 'command' && grant.command !== undefined && to.programs?.every(granted) === true
  }
  const applying = secrets.filter(covers)
  return applying.filter((one, index) => applying.findIndex(({ name }) => name === one.name) === index)
}

/** A destination in words, for people. `writes`: the files that the call writes. */
export function destinationText(to: Destination, toolName: string, writes: readonly string[]): string {
  if (to.kind === 'server') return `server ${to.server}`
  if (to.kind === 'host') return `host ${to.host}`
  if (to.kind === 'command') return to.programs === null ? 'command sh' : `command ${to.programs.join(', ')}`
  return writes.length === 0 ? `tool ${toolName}` : `file ${writes.join(', ')}`
}

/**
 * Programs that start another program named by their arguments. A grant for one of them would be a grant for every
 * program.
 */
const STARTERS: ReadonlySet<string> = new Set(
  (
    'sh ash bash dash fish ksh zsh busybox env xargs parallel nohup setsid sudo su doas exec eval command builtin ' +
    'source . time timeout nice ionice stdbuf chroot unshare nsenter script watch find ' +
    'awk gawk mawk python python3 node deno bun perl ruby php lua make npx docker podman ssh vi vim emacs gdb strace'
  ).split(' '),
)

const FORMS =
  'NAME (files and commands on this machine), NAME=@server:SERVER, NAME=@host:HOST, NAME=@host:HOST:PORT or ' +
  'NAME=@command:PROGRAM'

const FAULTS = {
  server: 'the name of a server has small letters, digits and "_"',
  host: 'name one host exactly, as NAME=@host:api.example.com or NAME=@host:localhost:8080, without https:// and "*"',
  command: 'name one program, as NAME=@command:git, without a path and arguments',
  starter: 'this program starts any other program; name the program that needs the secret, as NAME=@command:git',
}

/** The grant in a text such as `NAME` or `NAME=@host:api.example.com`; a string: why it is not a grant. */
export function grantOf(text: string): SecretGrant | string {
  const at = text.indexOf('=')
  const name = at < 0 ? text : text.slice(0, at)
  if (name === '') return `expected ${FORMS}`
  if (at < 0) return { name }
  const [, kind, value = ''] = /^@(server|host|command):(.*)$/s.exec(text.slice(at + 1)) ?? []
  switch (kind) {
    case 'server':
      return /^[a-z][a-z0-9_]*$/.test(value) ? { name, server: value } : FAULTS.server
    case 'host': {
      const host = hostOfGrant(value)
      return host === null ? FAULTS.host : { name, host }
    }
    case 'command':
      if (STARTERS.has(value)) return FAULTS.starter
      return /^\w[\w.+-]*$/.test(value) ? { name, command: value } : FAULTS.command
    default:
      return `expected ${FORMS}`
  }
}

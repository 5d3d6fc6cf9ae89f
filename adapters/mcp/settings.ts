import { z } from 'zod'
import { Milliseconds } from '../../domain/log/time-span.ts'

/** Names a server in policies, events and approvals: `server:tool`. */
export const ServerName = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, {
  error: 'expected a small letter, then small letters, digits and "_", at most 32',
})

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' })
const header = z.string().regex(/^[A-Za-z0-9-]+$/, { error: 'expected the name of a header' })
const secretName = z.string().min(1)

const common = {
  /** Of one call. In ms. */
  timeoutMs: Milliseconds.default(60_000),
  /** From the start of a connection to the list of tools. In ms. */
  connectMs: Milliseconds.default(20_000),
  /** Effect classes by the server's own names of its tools; they count in place of its annotations. */
  effects: z.record(z.string().min(1), z.enum(['pure', 'idempotent', 'irreversible'])).default({}),
}

/** An MCP server: a program that talks over its standard streams, or an address of streamable HTTP. */
const ServerOfType = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stdio'),
    /** Program and arguments. The program is found outside of every workspace. */
    command: z.array(z.string().min(1)).min(1),
    /** Absolute folder to start in; the run's workspace where absent. */
    cwd: z.string().startsWith('/').optional(),
    /** Variables of our environment that the server gets. It gets PATH, HOME and LANG besides, and no others. */
    env: z.array(variable).default([]),
    /** Variables whose values are secrets: variable → name of the secret. */
    secretEnv: z.record(variable, secretName).default({}),
    /** False: outside the sandbox, with the rights of the user. */
    sandboxed: z.boolean().default(true),
    /** In the sandbox: the network of the machine. */
    network: z.boolean().default(false),
    /** In the sandbox: absolute paths that the program can read in places that are empty there, such as homes. */
    readable: z.array(z.string().startsWith('/')).default([]),
    ...common,
  }),
  z.strictObject({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/, error: 'expected http://… or https://…' }),
    /** Header → name of the secret that holds its whole value, such as "Bearer …". */
    headers: z.record(header, secretName).default({}),
    ...common,
  }),
])
/** `type` may be left out: a server with a `command` is a program, one with a `url` is an address. */
export const McpServer = z.preprocess(typed, ServerOfType)
export type McpServer = z.infer<typeof ServerOfType>
export type StdioServer = Extract<McpServer, { type: 'stdio' }>

function typed(given: unknown): unknown {
  if (given === null || typeof given !== 'object' || 'type' in given) return given
  if ('command' in given) return { type: 'stdio', ...given }
  return 'url' in given ? { type: 'http', ...given } : given
}

/** The MCP servers of a run or of a deployment, by name. */
export const McpServers = z.record(ServerName, McpServer)
export type McpServers = z.infer<typeof McpServers>

/** The names of all secrets that the settings of these servers name. */
export const secretsOfServers = (servers: McpServers): string[] =>
  Object.values(servers).flatMap((server) => Object.values(server.type === 'http' ? server.headers : server.secretEnv))

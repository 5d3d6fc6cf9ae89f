import { z } from 'zod'
import { Milliseconds } from '../../domain/log/time-span.ts'

/** The name of a server in policies, events and approvals: `server:tool`. */
export const ServerName = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, {
  error: 'expected a small letter, then small letters, digits and "_", at most 32',
})

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' })
const header = z.string().regex(/^[A-Za-z0-9-]+$/, { error: 'expected the name of a header' })
const secretName = z.string().min(1)

const common = {
  /** The time limit of one call, in ms. */
  timeoutMs: Milliseconds.default(60_000),
  /** The time limit from the start of a connection to the list of tools, in ms. */
  connectMs: Milliseconds.default(20_000),
  /** Effect classes by the server's own tool names. They replace the server's annotations. */
  effects: z.record(z.string().min(1), z.enum(['pure', 'idempotent', 'irreversible'])).default({}),
}

/** An MCP server: a program that talks over its standard streams, or an address of streamable HTTP. */
const ServerOfType = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stdio'),
    /** The program and its arguments. Programs in workspaces are not used. */
    command: z.array(z.string().min(1)).min(1),
    /** The absolute path of the folder to start in. Absent: the run's workspace. */
    cwd: z.string().startsWith('/').optional(),
    /** Variables of keepup's environment that the server gets in addition to PATH, HOME, LANG and TZ. */
    env: z.array(variable).default([]),
    /** Variables with secret values: variable → name of the secret. */
    secretEnv: z.record(variable, secretName).default({}),
    /** False: the program runs outside the sandbox, with the user's rights. */
    sandboxed: z.boolean().default(true),
    /** True: the sandboxed program can use the machine's network. */
    network: z.boolean().default(false),
    /**
     * Absolute paths that the sandboxed program can read. Use this for paths in places that are empty in the sandbox,
     * such as home folders.
     */
    readable: z.array(z.string().startsWith('/')).default([]),
    ...common,
  }),
  z.strictObject({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/, error: 'expected http://… or https://…' }),
    /** Header → name of the secret with the whole value, such as "Bearer …". */
    headers: z.record(header, secretName).default({}),
    ...common,
  }),
])
/** `type` is optional: a server with a `command` is a program, and a server with a `url` is an address. */
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

/** The names of all secrets in the settings of these servers. */
export const secretsOfServers = (servers: McpServers): string[] =>
  Object.values(servers).flatMap((server) => Object.values(server.type === 'http' ? server.headers : server.secretEnv))

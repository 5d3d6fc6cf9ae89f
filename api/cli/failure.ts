import { CommanderError } from 'commander'
import { TokenError } from '../http/token.ts'
import { asProblem } from '../operations/problem.ts'
import { ConfigError } from '../process/config/config.ts'
import { OwnerError } from '../process/owner/backend.ts'
import { Refused } from './client.ts'
import type { CliIo, Format } from './context.ts'
import { CliError, EXIT, UsageError } from './exit.ts'
import { safe } from './output/text.ts'

/** `code`: stable. */
interface Failure {
  readonly message: string
  readonly code: string
  readonly exitCode: number
}

/** Refusals of what the command line names, beside 400 and 404: they come before anything is recorded. */
const ASKED_WRONGLY: ReadonlySet<string> = new Set([
  'UNKNOWN_AGENT',
  'UNSUPPORTED_CAPABILITY',
  'UNKNOWN_ROLE',
  'UNKNOWN_TOOL',
  'UNKNOWN_SECRET',
  'MODEL_AUTHENTICATION',
  'MODEL_NOT_FOUND',
  'MODEL_UNKNOWN',
  'PATTERN_INVALID',
  'PATTERN_REFUSED',
  'SCRIPT_INVALID',
  'WORKSPACE_MISSING',
  'WORKSPACE_UNREADABLE',
  'WORKSPACE_NOT_A_FOLDER',
  'WORKSPACE_HOLDS_DATA',
])

/** Another log than the one that was meant: no further try helps. */
const REPLACED: ReadonlySet<string> = new Set(['LOG_REPLACED', 'TABLES_LOG_OTHER'])

/** Codes that say no more than the exit code does. */
const PLAIN: ReadonlySet<string> = new Set(['USAGE', 'FAILED', 'INTERNAL'])

/** Members of a request that bear another name as options. */
const OPTIONS: Readonly<Record<string, string>> = {
  idempotencyKey: 'key',
  requiresApproval: 'require-approval',
  allowedTools: 'allow',
  deniedTools: 'deny',
  contextVariables: 'var',
  nanoDollars: 'budget-usd',
  tokens: 'budget-tokens',
  secrets: 'secret',
  graceTimeoutMs: 'grace-timeout',
  wallClockMs: 'wall-clock',
  deadlineMs: 'deadline',
}

/** `limits.maxTurns` as `--max-turns`: people typed options, no request. */
function option(path: string): string {
  const last = path.split('.').findLast((part) => !/^\d*$/.test(part)) ?? ''
  const name = last.replace(/-(\w)/g, (_, c: string) => c.toUpperCase())
  return `--${OPTIONS[name] ?? name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`
}

function asTyped({ message, errors }: Refused): string {
  if (errors.length === 0) return message
  return errors.map((one) => (one.path === '' ? one.message : `${option(one.path)}: ${one.message}`)).join('; ')
}

/** The text of a failure. */
export function explain(error: unknown): Failure {
  const failure = (message: string, code: string, exitCode: number = EXIT.failed): Failure => ({
    ...{ message, code, exitCode },
  })
  if (error instanceof CommanderError) return failure(error.message.replace(/^error: /, ''), 'USAGE', EXIT.usage)
  if (error instanceof UsageError || error instanceof ConfigError) return failure(error.message, 'USAGE', EXIT.usage)
  if (error instanceof CliError) return failure(error.message, 'FAILED', error.exitCode)
  if (error instanceof Refused) {
    return error.status === 400 || error.status === 404 || ASKED_WRONGLY.has(error.code)
      ? failure(asTyped(error), error.code, EXIT.usage)
      : failure(error.message, error.code)
  }
  if (error instanceof OwnerError) return failure(error.message, error.code)
  if (error instanceof TokenError) return failure(error.message, 'TOKEN_UNUSABLE')
  const problem = asProblem(error)
  if (problem !== null)
    return failure(problem.message, problem.code, REPLACED.has(problem.code) ? EXIT.replaced : EXIT.failed)
  if ((error as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd') {
    return failure('the current folder is gone; change to one that exists', 'FAILED')
  }
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return failure(`this should not have happened: ${unexpected}`, 'INTERNAL')
}

/** Tells a failure on stderr: as a line, or as one JSON object where data is asked for as JSON. Gives the exit code. */
export function tell(io: CliIo, format: Format, { message: said, code, exitCode }: Failure): number {
  // Commands in the API's advice are shown as this program was called; the name is looked up only for such advice.
  const message = said.replace(/\bkeepup (?=secrets|rebuild|release|repair|verify)/g, () => `${io.program} `)
  const line = `keepup: ${safe(message)}${PLAIN.has(code) ? '' : ` (${code})`}`
  io.stderr.write(`${format === 'table' ? line : JSON.stringify({ error: { message, code, exitCode } })}\n`)
  return exitCode
}

import { CommanderError } from 'commander'
import { Refused } from '../http/answers.ts'
import { TokenError } from '../http/token.ts'
import { asProblem } from '../operations/problem.ts'
import { ConfigError } from '../process/config/settings.ts'
import { OwnerError } from '../process/owner/backend.ts'
import type { CliIo, Format } from './context.ts'
import { CliError, EXIT, UsageError } from './exit.ts'
import { safe } from './output/text.ts'

/** `code`: stable. */
interface Failure {
  readonly message: string
  readonly code: string
  readonly exitCode: number
}

/**
 * Error codes, in addition to status 400 and 404, that mean a wrong command line. The API refuses these before it
 * records anything.
 */
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

/** The log is not the expected one. Retries do not help. */
const REPLACED: ReadonlySet<string> = new Set(['LOG_REPLACED', 'TABLES_LOG_OTHER'])

/** Codes that add nothing to the exit code. */
const PLAIN: ReadonlySet<string> = new Set(['USAGE', 'FAILED', 'INTERNAL'])

/** Request members whose command-line options have different names. */
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

/** Request members that are arguments on the command line, not options. */
const ARGUMENTS: ReadonlySet<string> = new Set(['principal', 'hold', 'anchor', 'consumer'])

/** The option for a request member: `limits.maxTurns` becomes `--max-turns`. */
function option(path: string): string {
  const last = path.split('.').findLast((part) => !/^\d*$/.test(part)) ?? ''
  const name = last.replace(/-(\w)/g, (_, c: string) => c.toUpperCase())
  return `--${OPTIONS[name] ?? name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`
}

function asTyped({ message, errors }: Refused): string {
  if (errors.length === 0) return message
  const named = (one: Refused['errors'][number]) =>
    one.in === 'path' || ARGUMENTS.has(one.path) ? one.path : option(one.path)
  return errors.map((one) => (one.path === '' ? one.message : `${named(one)}: ${one.message}`)).join('; ')
}

/** The message, code and exit code of a failure. */
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
  const { code, path } = error as NodeJS.ErrnoException
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined)
    return failure(`this user may not use ${path}; run the command as the user who owns it, or use the page`, 'FAILED')
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return failure(`this should not have happened: ${unexpected}`, 'INTERNAL')
}

/**
 * Prints a failure on stderr: as one line, or as one JSON object when the output format is JSON. Returns the exit code.
 */
export function tell(io: CliIo, format: Format, { message: said, code, exitCode }: Failure): number {
  // Replace `keepup` in the API's advice by the command that started this program. Determine that command only if
  // needed.
  const message = said.replace(/\bkeepup (?=secrets|rebuild|release|repair|verify)/g, () => `${io.program} `)
  const line = `keepup: ${safe(message)}${PLAIN.has(code) ? '' : ` (${code})`}`
  const isJson = format === 'json' || format === 'jsonl'
  io.stderr.write(`${!isJson ? line : JSON.stringify({ error: { message, code, exitCode } })}\n`)
  return exitCode
}

import { z } from 'zod'
import { parseCommand } from '../../../domain/calls/command-line.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import { byteLength, headAndTail, RESULT_BYTES, tailOf } from '../../../domain/calls/truncate.ts'
import type { CommandResult, ToolContext } from '../../../domain/ports/index.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'

const DEFAULT_MS = 120_000
const MAX_MS = 600_000
/** The time to end a command after its own time limit, in ms. */
const ENDING_MS = 30_000
const OUTPUT_BYTES = RESULT_BYTES - 1_024
/** The guaranteed share of each stream in a result, in bytes. */
const LEAST_BYTES = 6_000
const TIMEOUT_BYTES = 4_000
/** The most sandbox warnings in a result. */
const MAX_WARNINGS = 10

/**
 * The tool `run_command`. It takes one string for a shell, because models write that best. Gates compare its parsed
 * argv.
 */
export const runCommandTool = defineTool({
  name: 'run_command',
  description:
    'Run a command with /bin/sh in the workspace and wait for its end. Returns exit code, stdout and stderr; a ' +
    'non-zero exit code is a result, not an error. There is no terminal and no input. What it leaves running in the ' +
    'background is ended with it. There is no network. Long output is shown with its beginning and end, and with how to ' +
    'read on.',
  parameters: z.strictObject({
    command: wellFormedText.refine((text) => text.trim() !== '', 'expected a command').describe('e.g. "npm test"'),
    cwd: wellFormedText.optional().describe('Folder relative to the workspace. Default: the workspace itself'),
    timeoutMs: z.int().min(1).max(MAX_MS).optional().describe(`Time limit in ms. Default: ${DEFAULT_MS}`),
  }),
  effect: 'irreversible',
  paths: { cwd: 'list' },
  barrier: true,
  timeLimitMs: MAX_MS + ENDING_MS,
  async run({ command, cwd = '.', timeoutMs = DEFAULT_MS }, context) {
    const workspace = workspaceOf(context)
    if (!context.sandbox) {
      throw new ToolError('RESOURCE_NOT_FOUND', 'commands cannot be run here', { beforeEffect: true })
    }
    const argv = ['/bin/sh', '-c', command]
    const folder = (await workspace.resolve(cwd)) || '.'
    const asked = { argv, cwd: folder, timeoutMs, network: false }
    const result = await context.sandbox.exec(asked, context.signal, context.onOutput)
    const { stdout, stderr } = shown(result, context.readOn)
    const cut = stdout !== result.stdout || stderr !== result.stderr
    if (result.timedOut) throw overTime(timeoutMs, stdout, stderr)
    const { exitCode, signal, timedOut, stdoutBytes, stderrBytes, durationMs, warnings } = result
    const found = { ...(warnings && { warnings: warnings.slice(0, MAX_WARNINGS) }) }
    return {
      content: { exitCode, signal, timedOut, stdout, stderr, stdoutBytes, stderrBytes, durationMs, ...found },
      detail: { argv: parseCommand(command), exitCode, confined: context.sandbox.confined },
      ...(cut && { whole: whole(result) }),
    }
  },
})

/** Separates the two outputs in the whole result. */
const BETWEEN = Buffer.from('\n[stderr]\n')

const outputOf = ({ output, stdout, stderr }: CommandResult) =>
  output ?? { stdout: [Buffer.from(stdout)], stderr: [Buffer.from(stderr)] }
const sizeOf = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { length }) => sum + length, 0)

/** Both outputs in full, one after the other. The model can read the omitted parts there. */
function whole(result: CommandResult): Uint8Array[] {
  const { stdout, stderr } = outputOf(result)
  return sizeOf(stderr) === 0 ? [...stdout] : [...stdout, BETWEEN, ...stderr]
}

/** Truncates both outputs so that together they fit into a result. */
function shown(result: CommandResult, readOn: ToolContext['readOn']) {
  const { stdout, stderr } = result
  const hintFrom = (before: number) => (head: string) =>
    readOn?.(before + byteLength(head)) ?? 'redirect it to a file and use read_file, or filter it'
  const forErr = Math.max(LEAST_BYTES, OUTPUT_BYTES - byteLength(stdout))
  const forOut = Math.max(LEAST_BYTES, OUTPUT_BYTES - Math.min(byteLength(stderr), forErr))
  const before = sizeOf(outputOf(result).stdout) + BETWEEN.length
  return { stdout: headAndTail(stdout, forOut, hintFrom(0)), stderr: headAndTail(stderr, forErr, hintFrom(before)) }
}

function overTime(timeoutMs: number, stdout: string, stderr: string): ToolError {
  const said = `${tailOf(stdout, TIMEOUT_BYTES / 2)}\n${tailOf(stderr, TIMEOUT_BYTES / 2)}`.trim()
  const output = said === '' ? 'it had written nothing' : `its last output:\n${said}`
  return new ToolError('TIMEOUT', `the command was ended at its time limit of ${timeoutMs} ms; ${output}`, {
    transient: true,
  })
}

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import type { ToolContext, Workspace } from '../../../domain/ports/index.ts'

/** The surroundings of a tool's call in a test. */
export interface FakeContextOptions {
  /** Files of the workspace, by relative path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /**
   * True: `sandbox.exec` runs commands in the workspace, unconfined. Default: no sandbox, as in a run without commands.
   */
  readonly commands?: boolean
  /** Default: `test.t1.c0`. */
  readonly toolCallId?: string
  /** Counted from 1. Default: 1. */
  readonly attempt?: number
}

/** A tool's context for a test. */
export interface FakeContext extends ToolContext, AsyncDisposable {
  readonly workspace: Workspace
  /** The text that the tool has streamed through `onOutput`. */
  output(): string
  /** Aborts `signal`, like a cancel or the time limit. */
  abort(reason?: unknown): void
  /** Removes the workspace. */
  close(): Promise<void>
}

/**
 * The context of a tool call without a run, a model or a log: a real workspace in a temporary folder, with the same
 * guards as in production.
 *
 *   const context = await fakeContext({ files: { 'TODO.md': 'eat\n' } })
 *   await addTodo.run({ line: 'sleep' }, context)
 *   expect(Buffer.from(await context.workspace.read('TODO.md')).toString()).toBe('eat\nsleep\n')
 *   await context.close()
 */
export async function fakeContext(options: FakeContextOptions = {}): Promise<FakeContext> {
  const root = await mkdtemp(join(tmpdir(), 'keepup-tool-'))
  const close = () => rm(root, { recursive: true, force: true })
  try {
    const [folder, dataFolder] = [join(root, 'workspace'), join(root, 'data')]
    await mkdir(folder)
    // Import here, so that an old Node without SQLite still reports the required version.
    const { openWorkspace } = await import('../../../adapters/workspace/open.ts')
    const workspace = await openWorkspace(folder, { dataFolder })
    for (const [path, content] of Object.entries(options.files ?? {})) {
      await workspace.write(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
    }
    const ending = new AbortController()
    let output = ''
    return {
      runId: 'test',
      agentId: 'test',
      toolCallId: options.toolCallId ?? 'test.t1.c0',
      attempt: options.attempt ?? 1,
      signal: ending.signal,
      workspace,
      sandbox: options.commands ? createUnconfined({ workspace: workspace.path, dataFolder, driverId: 'test' }) : null,
      redact: (text) => text,
      onOutput: (text) => {
        output += text
      },
      output: () => output,
      abort: (reason) => ending.abort(reason),
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

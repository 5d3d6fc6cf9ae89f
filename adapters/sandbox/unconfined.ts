import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { ToolError } from '../../domain/calls/errors.ts'
import { needsPosix, platformOf } from '../../domain/platform.ts'
import type { Sandbox } from '../../domain/ports/index.ts'
import { signalTo } from '../processes/group.ts'
import { doorOf, killCgroup, makeCgroup, removeCgroup } from './cgroup.ts'
import { commandEnvironment, searchPath } from './environment.ts'
import { KILL_AFTER_MS, runProcess } from './process.ts'
import { endMarked, MARKER, processRegistry } from './registry.ts'
import { workingFolder } from './working-folder.ts'

export interface UnconfinedOptions {
  /** Real path of the workspace. */
  readonly workspace: string
  /** The data folder that records running commands, for `reap`. */
  readonly dataFolder: string
  readonly driverId: string
  /** keepup's environment. Commands get a few variables of it. Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv
  readonly graceMs?: number
}

/** Joins the control group in the first argument, if that is allowed. */
const ENTER = 'echo $$ 2>/dev/null > "$1"; shift'

/**
 * Commands without a sandbox (`sandboxed: false`). They have a separate process group, a cleared environment, and the
 * machine's network. On Linux a marker in the environment finds processes that leave the group. A control group finds
 * those that also clear their environment (`env -i setsid`), if keepup may make one (as root, or in a delegated cgroup
 * v2). On other systems such processes keep running, because keepup cannot identify them.
 */
export function createUnconfined(options: UnconfinedOptions): Sandbox {
  const registry = processRegistry(options.dataFolder, options.driverId)
  return {
    confined: false,
    exec: async (command, signal, onOutput, filter) => {
      if (!platformOf(process.platform).hasShell)
        throw new ToolError('EXECUTION_FAILED', needsPosix('a command'), { beforeEffect: true })
      const ours = options.env ?? process.env
      const id = randomUUID()
      const cwd = workingFolder(options.workspace, command.cwd)
      const env = commandEnvironment(ours, ours.HOME || homedir(), searchPath(ours), { ...command.env, [MARKER]: id })
      signal.throwIfAborted()
      const cgroup = makeCgroup(id)
      const entry = registry.begin(id, cgroup)
      try {
        return await runProcess({
          file: '/bin/sh',
          args: ['-c', `${cgroup ? ENTER : 'shift'}; exec "$@"`, 'sh', cgroup ? doorOf(cgroup) : '', ...command.argv],
          options: { cwd, env },
          stdio: ['ignore', 'pipe', 'pipe'],
          timeoutMs: command.timeoutMs,
          graceMs: options.graceMs ?? KILL_AFTER_MS,
          signal,
          onOutput,
          filter,
          onSpawn: (child) => entry.started(child.pid as number),
          stop: (child, hard) => {
            if (child.pid === undefined) return
            signalTo(-child.pid, hard ? 'SIGKILL' : 'SIGTERM')
            if (!hard) return
            if (cgroup) killCgroup(cgroup, id)
            endMarked(id)
          },
        })
      } finally {
        if (cgroup) await removeCgroup(cgroup)
        entry.ended()
      }
    },
  }
}

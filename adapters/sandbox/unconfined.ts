import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import type { Sandbox } from '../../domain/ports.ts'
import { doorOf, killCgroup, makeCgroup, removeCgroup } from './cgroup.ts'
import { commandEnvironment, searchPath } from './environment.ts'
import { GRACE_MS, runProcess, signalTo } from './process.ts'
import { endMarked, MARKER, processRegistry } from './registry.ts'
import { workingFolder } from './working-folder.ts'

export interface UnconfinedOptions {
  /** Real path of the workspace. */
  readonly workspace: string
  /** Running commands are written down here, for `reap`. */
  readonly dataFolder: string
  readonly driverId: string
  /** Our environment; commands get a few variables of it. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
  readonly graceMs?: number
}

/** Goes into the control group that is named first, where that is allowed. */
const ENTER = 'echo $$ 2>/dev/null > "$1"; shift'

/**
 * Commands without a sandbox (the run said `sandboxed: false`): in a process group of their own, with a cleared
 * environment, network as the machine has it. On Linux those that leave the group are found by a marker in their
 * environment and ended too. What leaves the group and clears its environment (`env -i setsid`) is found where we may
 * make control groups (as root, or in a delegated cgroup v2); elsewhere nothing tells it from a stranger, and strangers are
 * never signalled: only the sandbox ends that.
 */
export function createUnconfined(options: UnconfinedOptions): Sandbox {
  const registry = processRegistry(options.dataFolder, options.driverId)
  return {
    confined: false,
    exec: async (command, signal, onOutput, filter) => {
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
          graceMs: options.graceMs ?? GRACE_MS,
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

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox, UNLIMITED } from '../../../adapters/sandbox/bubblewrap.ts'
import { canLimit, groupWithLimits, isExempt } from '../../../adapters/sandbox/process-limit.ts'
import { freshFolders, tempFolder } from '../../support/folders.ts'
import { never, sh } from '../../support/programs/sandbox-of-each.ts'

describe('the limit of processes', { tags: ['bubblewrap'] }, () => {
  it('holds for every user, or the sandbox says that it does not', async () => {
    const { ws, data, remove } = freshFolders()
    const told: string[] = []
    try {
      const warn = (text: string) => told.push(text)
      const box = await createSandbox({ workspace: ws, hide: [], dataFolder: data, processes: 30, warn })
      const unbounded = isExempt() && !canLimit()
      expect(told).toEqual(unbounded ? [UNLIMITED] : [])
      const groups = new Set<string | null>()
      const note = () => {
        const [name] = readdirSync(join(data, 'processes'))
        groups.add(JSON.parse(readFileSync(join(data, 'processes', name!), 'utf8')).cgroup)
      }
      const script = 'echo up; i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; echo all'
      const { stdout, stderr } = await box.exec(sh(script), never, note)
      expect(stdout).toBe(unbounded ? 'up\nall\n' : 'up\n')
      expect(stderr).toMatch(unbounded ? /^$/ : /fork/)
      // The group is gone with its command.
      expect([...groups]).toEqual([isExempt() && canLimit() ? expect.stringContaining('keepup-') : null])
      expect([...groups].filter((group) => group !== null && existsSync(group))).toEqual([])
      expect(readdirSync(join(data, 'processes'))).toEqual([])
    } finally {
      remove()
    }
  })
})

describe('the group of a command', () => {
  const proc = (own: string, mounts: string) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'cgroup'), own)
    writeFileSync(join(folder, 'mountinfo'), mounts.replaceAll('ROOT', folder))
    const group = (path: string, controllers: string) => {
      mkdirSync(join(folder, 'fs', path), { recursive: true })
      writeFileSync(join(folder, 'fs', path, 'cgroup.subtree_control'), `${controllers}\n`)
    }
    return { folder, group }
  }

  it('is made beside our own where a group around it gives its children the controller', () => {
    const own = '0::/user.slice/user-0.slice/session-1.scope\n'
    const { folder, group } = proc(own, '35 24 0:30 / ROOT/fs rw,nosuid shared:9 - cgroup2 cgroup2 rw\n')
    group('', 'cpu memory pids')
    group('user.slice', 'memory pids')
    group('user.slice/user-0.slice', 'cpu memory pids')
    group('user.slice/user-0.slice/session-1.scope', '')
    expect(groupWithLimits(folder)).toBe(join(folder, 'fs/user.slice/user-0.slice'))
    for (const path of ['user.slice/user-0.slice', 'user.slice', '']) group(path, 'cpu')
    expect(groupWithLimits(folder)).toBe(null)
  })

  it('is made beneath our own in the hierarchy of version 1', () => {
    const mounts =
      '31 23 0:28 / ROOT rw - tmpfs tmpfs rw\n39 31 0:36 /docker/a ROOT/fs rw,relatime shared:3 - cgroup cgroup rw,pids\n'
    const { folder } = proc('9:name=systemd:/\n8:pids:/docker/a/b\n0::/\n', mounts)
    expect(groupWithLimits(folder)).toBe(join(folder, 'fs/b'))
  })

  it('does not exist where the kernel reports nothing, or our own group is not visible', () => {
    expect(groupWithLimits('/none')).toBe(null)
    const mounts = '39 31 0:36 /docker/a ROOT/fs rw - cgroup cgroup rw,pids\n'
    expect(groupWithLimits(proc('8:pids:/elsewhere\n', mounts).folder)).toBe(null)
  })
})

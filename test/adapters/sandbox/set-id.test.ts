import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { systemCallFilter } from '../../../adapters/sandbox/system-calls.ts'
import { never, sandboxOfEach, sh } from '../../support/programs/sandbox-of-each.ts'
import { type Call, decisionOf } from '../../support/programs/seccomp.ts'

/** Files with set-user-ID or set-group-ID bits, and devices. */
const unsafeIn = (folder: string): string =>
  execFileSync('find', [folder, '-type', 'f', '-perm', '/6000', '-o', '-type', 'b', '-o', '-type', 'c'], {
    encoding: 'utf8',
  })

const openWith = (flags: string) => `node -e "require('fs').openSync('f', '${flags}', 0o4755)"`

describe('a set-user-ID file', { tags: ['bubblewrap'] }, () => {
  const at = sandboxOfEach()

  it('is not made by a command', async () => {
    const attacks = [
      'cp /bin/cat f && chmod 4755 f',
      'touch f && chmod g+s f',
      'touch f && chmod 6777 f; exit 1',
      'install -m 2755 /bin/cat f',
      `node -e "require('fs').fchmodSync(require('fs').openSync('f', 'w'), 0o4755)"`,
      openWith('w'),
      openWith('ax'),
      'mknod f c 0 0',
    ]
    for (const attack of attacks) {
      expect(await at.run(`rm -f f; ${attack}`)).not.toMatchObject({ exitCode: 0 })
      expect(unsafeIn(at.folders.ws)).toBe('')
    }
    expect(await at.run('rm -f f; touch f && chmod 1755 f && mkfifo p && mkdir -m 700 d')).toMatchObject({
      exitCode: 0,
    })
  })

  it('is not made by the first process of the namespace either: the filter holds for all of them', async () => {
    const { stdout } = await at.run(
      'sleep 60 & cat /proc/[0-9]*/status | grep Seccomp: | sort -u; ls -d /proc/[0-9]* | head -1',
    )
    expect(stdout).toBe('Seccomp:\t2\n/proc/1\n')
  })

  it('of the user stays, and folders in a set-group-ID folder belong to its group as elsewhere', async () => {
    const [file, folder] = [join(at.folders.ws, 'own'), join(at.folders.ws, 'shared')]
    writeFileSync(file, '')
    chmodSync(file, 0o4755)
    mkdirSync(folder)
    chmodSync(folder, 0o2775)
    expect(await at.run('mkdir shared/inner && cp -r shared copy && touch shared/f')).toMatchObject({ exitCode: 0 })
    expect(statSync(join(folder, 'inner')).mode & 0o7000).toBe(0o2000)
    expect(statSync(file).mode & 0o7000).toBe(0o4000)
  })

  it('loses its bits after the command on an architecture without a filter, and the result says so', async () => {
    const [file, folder] = [join(at.folders.ws, 'own'), join(at.folders.ws, 'shared')]
    writeFileSync(file, '')
    chmodSync(file, 0o2755)
    mkdirSync(folder)
    chmodSync(folder, 0o2775)
    const told: string[] = []
    const warn = (text: string) => told.push(text)
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], filter: null, warn })
    expect(told).toContainEqual(expect.stringMatching(/there is no filter of system calls for this architecture/))
    const { warnings } = await box.exec(
      sh('mkdir -p d && cp /bin/cat d/f && chmod 6711 d/f && touch g && chmod 4000 g'),
      never,
    )
    expect([...warnings!].sort()).toEqual([
      'the command made the set-user-ID or set-group-ID file "d/f"; the bits were removed',
      'the command made the set-user-ID or set-group-ID file "g"; the bits were removed',
    ])
    expect(unsafeIn(at.folders.ws)).toBe(`${file}\n`)
    expect(lstatSync(join(at.folders.ws, 'd/f')).mode & 0o7777).toBe(0o711)
    expect(statSync(folder).mode & 0o7000).toBe(0o2000)
  })

  it('is looked for also after a command that was ended', async () => {
    const told: string[] = []
    const box = await createSandbox({
      workspace: at.folders.ws,
      hide: [],
      filter: null,
      warn: (text) => told.push(text),
    })
    const abort = new AbortController()
    const script = 'touch f && chmod 4755 f && echo up; while :; do sleep 60; done'
    await expect(box.exec(sh(script), abort.signal, () => abort.abort(new Error('stop')))).rejects.toThrow('stop')
    expect(unsafeIn(at.folders.ws)).toBe('')
    expect(told.at(-1)).toContain('the set-user-ID or set-group-ID file "f"')
  })
})

describe('the keyring of the session', { tags: ['bubblewrap'] }, () => {
  const at = sandboxOfEach()

  it('is neither listed nor reached', async () => {
    const keyctl = { x64: 250, arm64: 219 }[process.arch as string]!
    // KEYCTL_GET_KEYRING_ID of the session's keyring; 38 is ENOSYS.
    const script = `cat /proc/keys /proc/key-users; perl -e '$! = 0; syscall(${keyctl}, 0, -3, 0); print $! + 0'`
    expect((await at.run(script)).stdout).toBe('38')
  })
})

describe('the filter of system calls', () => {
  const [ALLOWED, EPERM, ENOSYS, KILLED] = [0x7fff0000, 0x00050001, 0x00050026, 0x80000000]
  const X64 = 0xc000003e
  const ARM64 = 0xc00000b7
  const [CREAT, TMPFILE] = [0o101, 0o20200001]

  it.each([
    ['x64', X64],
    ['arm64', ARM64],
  ] as const)('of %s decides by the mode of a call', (architecture, audit) => {
    const filter = systemCallFilter(architecture)!
    const decide = (call: Omit<Call, 'audit'>) => decisionOf(filter, { audit, ...call })
    // The position of the mode among the arguments of each call.
    const changing = {
      x64: [
        [90, 1],
        [91, 1],
        [268, 2],
        [452, 2],
      ],
      arm64: [
        [52, 1],
        [53, 2],
        [452, 2],
      ],
    }[architecture]
    const making = {
      x64: [
        [85, 1],
        [133, 1],
        [259, 2],
      ],
      arm64: [[33, 2]],
    }[architecture]
    const opening = {
      x64: [
        [2, 2],
        [257, 3],
      ],
      arm64: [[56, 3]],
    }[architecture]
    const withMode = (at: number, mode: number, flags = 0) => [7, 7, 7, 7].with(at, mode).with(at - 1, flags)
    for (const [number, at] of [...changing, ...making] as [number, number][]) {
      for (const mode of [0o4755, 0o2755, 0o6000, 0o2000])
        expect([number, decide({ number, args: withMode(at, mode) })]).toEqual([number, EPERM])
      for (const mode of [0, 0o755, 0o1777, 0o100644, 0o010644, 0o140644])
        expect([number, decide({ number, args: withMode(at, mode) })]).toEqual([number, ALLOWED])
    }
    for (const [number, at] of making as [number, number][])
      for (const mode of [0o020666, 0o060666]) expect(decide({ number, args: withMode(at, mode) })).toBe(EPERM)
    for (const [number, at] of opening as [number, number][]) {
      for (const flags of [CREAT, TMPFILE]) {
        expect(decide({ number, args: withMode(at, 0o4644, flags) })).toBe(EPERM)
        expect(decide({ number, args: withMode(at, 0o644, flags) })).toBe(ALLOWED)
      }
      expect(decide({ number, args: withMode(at, 0o6777, 0) })).toBe(ALLOWED)
    }
    for (const number of [425, 426, 427, 437, ...{ x64: [248, 249, 250], arm64: [217, 218, 219] }[architecture]])
      expect([number, decide({ number })]).toEqual([number, ENOSYS])
  })

  it('ends a program that calls the system by another architecture, and knows nothing of x32', () => {
    const [x64, arm64] = [systemCallFilter('x64')!, systemCallFilter('arm64')!]
    // i386, arm
    expect(decisionOf(x64, { audit: 0x40000003, number: 15 })).toBe(KILLED)
    expect(decisionOf(arm64, { audit: 0x40000028, number: 15 })).toBe(KILLED)
    expect(decisionOf(x64, { audit: X64, number: 0x40000000 + 90, args: [0, 0o755] })).toBe(ENOSYS)
    expect(decisionOf(x64, { audit: X64, number: 0 })).toBe(ALLOWED)
  })

  it('is missing for other architectures', () => {
    expect(systemCallFilter('riscv64')).toBe(null)
  })
})

// @module-tag git
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { SqliteSnapshots } from '../../adapters/sqlite/snapshots.ts'
import { openVault } from '../../adapters/vault/file-vault.ts'
import { FAULT_ALL, FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'
import { tempFolder } from '../support/folders.ts'

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS })

const ROUNDS = FAULT_ALL ? 20 : 1
const PROGRAM = fileURLToPath(new URL('../support/servers/host.ts', import.meta.url))

async function begun(...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  await lines.next()
  return {
    go: () => child.stdin!.write('go\n'),
    async got(): Promise<Record<string, string>> {
      const { value } = await lines.next()
      if (child.exitCode === null) await once(child, 'exit')
      return JSON.parse(value ?? '{}')
    },
  }
}

test('processes that begin in one empty data folder at once get the same, and lose nothing of each other', async () => {
  const names = ['A', 'B', 'C', 'D', 'E', 'F']
  for (let round = 0; round < ROUNDS; round++) {
    const root = tempFolder()
    const [data, ws] = [join(root, 'data'), join(root, 'ws')]
    mkdirSync(data, { mode: 0o700 })
    const begins = names.map(async (name) => {
      const workspace = join(ws, name)
      mkdirSync(workspace, { recursive: true })
      writeFileSync(join(workspace, 'same.txt'), 'the same in all\n')
      return begun(data, workspace, name)
    })
    const all = await Promise.all(begins)
    for (const { go } of all) go()
    const got = await Promise.all(all.map((one) => one.got()))
    const [first] = got
    expect(Object.keys(first!)).toEqual(['token', 'tree', 'key'])
    expect(got).toEqual(names.map(() => first))

    const each = names.flatMap((name) => [0, 1, 2, 3, 4].map((n) => [name, n] as const))
    const vault = await openVault({ dataFolder: data, env: {} })
    expect(await vault.names()).toEqual(each.map(([name, n]) => `${name}_${n}`))
    for (const [name, n] of each)
      expect(vault.resolve(`secret:ku_${name}${n}`.padEnd(36, '0'))).toBe(`remembered ${name} ${n}`)
    const snapshots = SqliteSnapshots.open(join(data, 'snapshots.db'), () => expect.unreachable('it is damaged'))
    for (const [name, n] of each)
      expect(await snapshots.latest(`${name}${n}`, 1, {})).toMatchObject({ state: { name } })
    snapshots.close()
  }
})

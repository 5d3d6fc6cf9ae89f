import { describe, expect, test } from 'vitest'
import { MemoryBlobs } from '../../adapters/memory/blobs.ts'
import { MemoryPositions } from '../../adapters/memory/positions.ts'
import { MemorySnapshots } from '../../adapters/memory/snapshots.ts'
import { MemoryVault } from '../../adapters/memory/vault.ts'
import { blobStoreContract } from '../contracts/blob-store.ts'
import { positionsContract } from '../contracts/positions.ts'
import { snapshotsContract } from '../contracts/snapshots.ts'

describe('blobs in memory', () => blobStoreContract(async () => new MemoryBlobs()))
describe('positions in memory', () => positionsContract(async () => new MemoryPositions()))
describe('snapshots in memory', () => snapshotsContract(() => new MemorySnapshots()))

describe('a vault in memory', () => {
  const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
  const open = (env: NodeJS.ProcessEnv = {}) => new MemoryVault({ random, env })

  test('keeps named secrets; the environment comes first', async () => {
    const vault = open({ A: 'from-env', B: ' ' })
    for (const name of ['B', 'A', 'C']) await vault.set(name, `value-${name}`)
    expect(await vault.names()).toEqual(['A', 'B', 'C'])
    expect(await Promise.all(['A', 'B', 'NONE', 'constructor'].map((name) => vault.get(name)))).toEqual([
      'from-env',
      'value-B',
      null,
      null,
    ])
  })

  test('keeps the values that were replaced or removed, and tells of each change', async () => {
    const vault = open()
    const stamps = [await vault.stamp()]
    await vault.set('A', 'first-value')
    await vault.set('A', 'first-value')
    expect(await vault.retired()).toEqual([])
    await vault.set('A', 'second-value')
    stamps.push(await vault.stamp())
    expect(await vault.remove('A')).toBe(true)
    expect(await vault.remove('A')).toBe(false)
    stamps.push(await vault.stamp())
    expect(await vault.retired()).toEqual([
      { name: 'A', value: 'first-value' },
      { name: 'A', value: 'second-value' },
    ])
    expect(new Set(stamps).size).toBe(3)
  })

  test('keeps the last 100 values that were replaced, each once', async () => {
    const vault = open()
    for (let time = 0; time < 3; time++) for (const value of ['value-one', 'value-two']) await vault.set('A', value)
    expect((await vault.retired()).map(({ value }) => value)).toEqual(['value-two', 'value-one'])
    for (let i = 0; i <= 101; i++) await vault.set('A', `value-${i}`)
    const kept = (await vault.retired()).map(({ value }) => value)
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([100, 'value-1', 'value-100'])
  })

  test('refuses names and values that no vault takes, and resolves references', async () => {
    const vault = open()
    await expect(vault.set('no-name', 'long enough')).rejects.toMatchObject({ code: 'SECRET_INVALID' })
    await expect(vault.set('A', 'x')).rejects.toMatchObject({ code: 'SECRET_INVALID' })
    await vault.remember(new Map([['secret:ku_1', 'value']]))
    expect([vault.resolve('secret:ku_1'), vault.resolve('secret:ku_2')]).toEqual(['value', null])
  })
})

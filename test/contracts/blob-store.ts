import { expect, test } from 'vitest'
import type { BlobStore } from '../../domain/ports/index.ts'

const hash = 'ab'.repeat(32)
const bytes = new Uint8Array(100_000).map((_, index) => index % 251)
const code = (name: string) => expect.objectContaining({ code: name })

/** The promises of every BlobStore. `open`: an empty one. */
export function blobStoreContract(open: () => Promise<BlobStore>): void {
  test('bytes come back, twice the same address is fine, runs are apart', async () => {
    const blobs = await open()
    await Promise.all([blobs.put('r1', hash, bytes), blobs.put('r1', hash, bytes), blobs.put('r2', hash, bytes)])
    expect(Buffer.compare(await blobs.get('r1', hash), bytes)).toBe(0)
    await blobs.delete('r1', hash)
    await blobs.delete('r1', hash)
    await blobs.delete('none', hash)
    await expect(blobs.get('r1', hash)).rejects.toEqual(code('BLOB_MISSING'))
    expect(Buffer.compare(await blobs.get('r2', hash), bytes)).toBe(0)
    await blobs.put('r1', hash, bytes)
    expect(Buffer.compare(await blobs.get('r1', hash), bytes)).toBe(0)
  })

  test('no bytes, and a part of a longer buffer, are as they were put', async () => {
    const blobs = await open()
    const other = hash.replaceAll('a', 'c')
    await blobs.put('r1', hash, new Uint8Array())
    await blobs.put('r1', other, bytes.subarray(7, 300))
    expect(Buffer.from(await blobs.get('r1', hash))).toHaveLength(0)
    expect(Buffer.compare(await blobs.get('r1', other), bytes.subarray(7, 300))).toBe(0)
  })

  test('a part is what stands there, and less where it ends', async () => {
    const blobs = await open()
    if (blobs.part === undefined) return expect.fail('this store gives no parts')
    await blobs.put('r1', hash, bytes)
    for (const [from, length] of [
      [0, 10],
      [99_990, 100],
      [100_000, 1],
      [5, 99_995],
    ] as const)
      expect(Buffer.compare(await blobs.part('r1', hash, from, length), bytes.subarray(from, from + length))).toBe(0)
    await expect(blobs.part('none', hash, 0, 1)).rejects.toEqual(code('BLOB_MISSING'))
    await expect(blobs.part('../x', hash, 0, 1)).rejects.toEqual(code('APPEND_INVALID'))
  })

  test('the blobs of a run are listed, and those of no other run', async () => {
    const blobs = await open()
    const other = hash.replaceAll('a', 'c')
    expect(await blobs.list('r1')).toEqual([])
    for (const [run, address] of [
      ['r1', hash],
      ['r1', other],
      ['r2', hash],
    ] as const)
      await blobs.put(run, address, bytes)
    expect([...(await blobs.list('r1'))].sort()).toEqual([hash, other].sort())
    await blobs.delete('r1', hash)
    expect(await blobs.list('r1')).toEqual([other])
    await expect(blobs.list('../x')).rejects.toEqual(code('APPEND_INVALID'))
  })

  test('an address that would lead elsewhere is refused', async () => {
    const blobs = await open()
    for (const [run, address] of [
      ['../x', hash],
      ['', hash],
      ['r1', '../../x'],
      ['r1', hash.toUpperCase()],
    ] as const) {
      await expect(blobs.put(run, address, bytes)).rejects.toEqual(code('APPEND_INVALID'))
      await expect(blobs.get(run, address)).rejects.toEqual(code('APPEND_INVALID'))
      await expect(blobs.delete(run, address)).rejects.toEqual(code('APPEND_INVALID'))
    }
  })
}

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { liveToken, TokenError, tokenPath } from '../../../api/http/token.ts'
import { tempFolder } from '../../support/folders.ts'

let made = 0
const bytes = (n: number) => new Uint8Array(n).fill(++made)
const written = (folder: string) => readFileSync(tokenPath(folder), 'utf8').trim()

test('the token is that of its file, whenever it is asked for', () => {
  const folder = tempFolder()
  const token = liveToken(folder, bytes)
  const first = token()
  expect([first, token()]).toEqual([written(folder), first])
  writeFileSync(tokenPath(folder), 'a'.repeat(first.length))
  expect(token()).toBe('a'.repeat(first.length))
  rmSync(tokenPath(folder))
  const anew = token()
  expect(anew).not.toBe(first)
  expect([anew, token()]).toEqual([written(folder), anew])
})

test('a token that cannot be read, as its folder is gone, stays what it was', () => {
  const folder = join(tempFolder(), 'data')
  mkdirSync(folder)
  const token = liveToken(folder, bytes)
  const first = token()
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'no folder')
  expect(token()).toBe(first)
})

test('a token file that another one can read ends the token before it, and is none', () => {
  const folder = tempFolder()
  const token = liveToken(folder, bytes)
  token()
  rmSync(tokenPath(folder))
  writeFileSync(tokenPath(folder), 'b'.repeat(43), { mode: 0o644 })
  expect(token).toThrow(TokenError)
  chmodSync(tokenPath(folder), 0o600)
  expect(token()).toBe('b'.repeat(43))
})

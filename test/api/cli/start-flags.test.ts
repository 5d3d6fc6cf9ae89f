import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ENTRY } from '../../support/programs/program.ts'

const TELLS = "--import=data:text/javascript,console.error('flags:'+process.execArgv)"

/** The flags of Node in each program that a command becomes, one after the other. */
async function flagsOf(args: readonly string[], options = ''): Promise<string[]> {
  const env = { ...process.env, NODE_OPTIONS: `${TELLS} ${options}`.trim() }
  const { stderr } = await promisify(execFile)(process.execPath, [ENTRY, ...args, '--help'], { env })
  return [...stderr.matchAll(/^flags:(.*)$/gm)].map(([, flags]) => flags!)
}

describe.runIf(process.platform === 'linux')('the young generation of Node', () => {
  test('is small where a process lives long, once and in the same process', async () => {
    expect(await flagsOf(['serve'])).toEqual(['', '--max-semi-space-size=8'])
  })

  test('is as Node sets it for other commands, and as a person sets it', async () => {
    expect(await flagsOf(['runs', 'list'])).toEqual([''])
    expect(await flagsOf(['serve'], '--max-semi-space-size=32')).toEqual([''])
  })

  test('is as it was where no other program can take the place of this one', async () => {
    const refuses = "--import=data:text/javascript,process.execve=()=>{throw/**/Error('no')}"
    expect(await flagsOf(['serve'], refuses)).toEqual([''])
  })
})

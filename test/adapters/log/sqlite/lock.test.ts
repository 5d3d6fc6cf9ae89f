import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../../../support/folders.ts'

test('a process holds the lock of a log until it ends, also without a reference to it', async () => {
  const folder = tempFolder()
  const module = new URL('../../../../adapters/sqlite/log/lock.ts', import.meta.url).href
  const opened = new URL('../../../../adapters/sqlite/log/open.ts', import.meta.url).href
  const program = `import { openSqliteLog } from ${JSON.stringify(opened)}
    import { lockFolder } from ${JSON.stringify(module)}
    const [made, locked] = process.argv.slice(1)
    await (await openSqliteLog({ folder: made, mode: 'owner' })).close()
    await openSqliteLog({ folder: made, mode: 'owner' })
    lockFolder(locked)
    setTimeout(() => (gc(), setTimeout(() => (gc(), console.log('locked')))))
    process.stdin.resume()`
  const alone = tempFolder()
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', program, folder, alone], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  for (const held of [folder, alone])
    await expect(openSqliteLog({ folder: held, mode: 'owner' })).rejects.toMatchObject({ code: 'LOG_LOCKED' })
  child.kill('SIGKILL')
  await new Promise((resolve) => child.on('exit', resolve))
  for (const free of [folder, alone]) await (await openSqliteLog({ folder: free, mode: 'owner' })).close()
})

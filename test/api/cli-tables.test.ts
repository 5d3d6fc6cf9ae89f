import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../api/config.ts'
import { openServices } from '../../api/keepup.ts'
import type { OpenServices } from '../../api/owner/connect.ts'
import { ProjectionError } from '../../projections/index.ts'
import { cliFolder, inProcess } from './cli-support.ts'

// How a run ended is in the log; tables that do not show it take nothing from that.

const never = () => Promise.reject(new ProjectionError('ABORTED', 'the tables do not show it yet'))
const open: OpenServices = async (config: Config, _mode: 'owner' | 'reader', options: { autoDrive: boolean }) => {
  const services = await openServices(config, 'owner', options)
  return { ...services, read: { ...services.read, current: never, caughtUp: never } }
}

it.each([
  ['finish', 0, 'finish\n'],
  ['fail', 3, expect.stringContaining(' failed')],
])('a run that is asked to %s ends with %i though no table shows it', async (task, code, out) => {
  const folder = cliFolder()
  onTestFinished(() => folder.clean())
  const { KEEPUP_MODEL } = folder.env
  const done = await inProcess(['--data', folder.data, 'run', task, '--no-workspace'], { KEEPUP_MODEL }, { open })
  expect([done.code, done.out]).toEqual([code, out])
  expect(done.err).toContain('the run is recorded, but the tables do not show it yet')
})

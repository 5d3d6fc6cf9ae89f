import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { OpenServices } from '../../../api/process/owner/connect.ts'
import { ProjectionError } from '../../../projections/index.ts'
import { cliFolder, inProcess } from '../support/cli.ts'

// How a run ended is in the log; tables that do not show it take nothing from that.

const never = () => Promise.reject(new ProjectionError('ABORTED', 'the tables do not show it yet'))
const open: OpenServices = async (config: Config, _mode: 'owner' | 'reader', options: { autoDrive: boolean }) => {
  const services = await openServices(config, 'owner', options)
  return { ...services, read: { ...services.read, current: never, caughtUp: never } }
}

it.each([
  ['finish', 0, 'finish\n'],
  ['fail now', 3, expect.stringContaining(' failed')],
])('a run that is asked to %s ends with %i though no table shows it', async (task, code, out) => {
  const folder = cliFolder()
  onTestFinished(() => folder.clean())
  const { KEEPUP_MODEL } = folder.env
  const done = await inProcess(['--data', folder.data, 'run', task, '--no-workspace'], { KEEPUP_MODEL }, { open })
  expect([done.code, done.out]).toEqual([code, out])
  expect(done.err).toContain('the run is recorded, but the tables do not show it yet')
})

it.each([
  [true, 0, '7 events; the tables are equal\nswitched to the new ones\n'],
  [false, 5, '7 events; the tables are NOT equal\nruns: 1 rows only live\nNOT switched: the tables are as they were\n'],
  [null, 0, '7 events; the tables were made anew; there was nothing to compare them with\nswitched to the new ones\n'],
] as const)('a rebuild whose tables are equal (%s) ends with %i', async (equal, code, out) => {
  const folder = cliFolder()
  onTestFinished(() => folder.clean())
  const differences = equal === false ? ['runs: 1 rows only live'] : []
  const rebuilt = { events: 7, equal, switched: equal !== false, differences }
  const told: OpenServices = async (config: Config, _mode: 'owner' | 'reader', options: { autoDrive: boolean }) => {
    const services = await openServices(config, 'owner', options)
    return { ...services, read: { ...services.read, rebuild: async () => rebuilt } }
  }
  const { KEEPUP_MODEL } = folder.env
  expect(await inProcess(['--data', folder.data, 'rebuild'], { KEEPUP_MODEL }, { open: told })).toMatchObject({
    code,
    out,
  })
  const json = await inProcess(['--data', folder.data, '-o', 'json', 'rebuild'], { KEEPUP_MODEL }, { open: told })
  expect([json.code, JSON.parse(json.out)]).toEqual([code, rebuilt])
})

it('a rebuild of a folder that is new compares what there is', async () => {
  const folder = cliFolder()
  onTestFinished(() => folder.clean())
  const { KEEPUP_MODEL } = folder.env
  const { code, out } = await inProcess(['--data', folder.data, 'rebuild'], { KEEPUP_MODEL })
  expect([code, out]).toEqual([0, '1 event; the tables are equal\nswitched to the new ones\n'])
})

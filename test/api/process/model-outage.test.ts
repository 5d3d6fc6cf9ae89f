import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT } from '../../../api/cli/exit.ts'
import { tempFolder } from '../../support/folders.ts'
import { inProcess } from '../support/cli.ts'
import { writeScript } from '../support/script.ts'

test('with --model-outage 0 and no retries a run fails at once where its model is out', async () => {
  const root = tempFolder()
  const flags = ['--max-retries', '0', '--model-outage', '0', '--no-workspace']
  const { code, err } = await inProcess([
    '--data',
    join(root, 'data'),
    'run',
    'outage',
    '--model',
    writeScript(root),
    ...flags,
  ])
  expect([code, err]).toEqual([EXIT.runError, expect.stringContaining('the run ended in ERROR MODEL_FAILED')])
})

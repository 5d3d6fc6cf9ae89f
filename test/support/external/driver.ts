import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import type { HarnessOptions } from '../../../adapters/agents/process/harness.ts'
import { plainAgent } from './plain-agent-definition.ts'

// A program that runs an agent and is killed meanwhile: driver.ts <options of the harness> <mark of its processes>.
const options = JSON.parse(process.argv[2]!) as HarnessOptions
// The test removes the folder with all temporary files.
process.env.TMPDIR = options.dataFolder
const backend = createCliBackend(plainAgent, options)
await backend.start(
  { prompt: 'go', env: { KEEPUP_TEST_RUN: process.argv[3]! } },
  {
    agentId: 'x1',
    signal: new AbortController().signal,
    emit: ({ events = [] }) => {
      for (const { text } of events) console.log(text)
      return undefined
    },
  },
)

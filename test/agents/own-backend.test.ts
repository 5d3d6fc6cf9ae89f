import { expect, test } from 'vitest'
import { type CliAgent, checkAgent } from '../../api/library/agent-kit.ts'
import { OWN, OWN_SAMPLE } from '../support/external/own-agent.ts'

// The kit that checks keepup's own backends is public.

test('the kit tells what a backend fails by name, and nothing of one that passes', async () => {
  expect(await checkAgent(OWN, OWN_SAMPLE)).toEqual([])
  const trusting: CliAgent = {
    ...OWN,
    mapping: () => ({ ...OWN.mapping(), end: () => ({ done: true, finalText: 'all is well' }) }),
  }
  expect(await checkAgent(trusting, OWN_SAMPLE)).toEqual([
    expect.stringMatching(/^does not believe exit code 0 without the terminal line: /),
  ])
})

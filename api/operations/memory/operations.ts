import { z } from 'zod'
import { mustHave } from '../access/identity.ts'
import { TraceHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { correctMemory, forgetMemory, listMemories, memoryHistory, verifyMemory } from './memories.ts'
import * as schema from './schemas.ts'

const params = z.object({ id: schema.MemoryId })
const headers = TraceHeaders

export const MEMORY_OPERATIONS = [
  operation({
    name: 'listMemories',
    http: 'GET /v1/memories',
    right: 'memories.read',
    summary: 'Facts that agents have saved, latest first; with "q", the facts that match these words, best first',
    input: { query: schema.MemoryQuery },
    output: schema.MemoryList,
    answers: { 200: 'A page of facts' },
    awaitsTables: true,
    run: (s, { query }) => listMemories(s, query),
  }),
  operation({
    name: 'getMemory',
    http: 'GET /v1/memories/{id}',
    right: 'memories.read',
    summary: 'A fact with all its changes',
    input: { params },
    output: schema.MemoryHistory,
    answers: { 200: 'The fact; the ETag is its revision' },
    awaitsTables: true,
    revision: ({ memory }) => memory.revision,
    run: (s, { params }) => memoryHistory(s, params.id),
  }),
  operation({
    name: 'correctMemory',
    http: 'POST /v1/memories/{id}/correct',
    right: 'memories.write',
    summary: 'Replace the text of a fact; the log keeps the previous text',
    input: { params, headers, body: schema.CorrectMemory },
    output: schema.MemoryChanged,
    answers: { 200: 'Corrected' },
    run: (s, { params, body }, { options }) => correctMemory(s, params.id, body, options),
  }),
  operation({
    name: 'forgetMemory',
    http: 'POST /v1/memories/{id}/forget',
    right: 'memories.write',
    summary: 'Forget a fact, so that no agent finds it again; with "erase", also erase its text permanently',
    input: { params, headers, body: schema.ForgetMemory },
    output: schema.MemoryChanged,
    answers: { 200: 'Forgotten' },
    run: (s, { params, body }, { options }) => {
      if (body.erase && options.identity !== undefined)
        mustHave(s, options.identity, 'memories.erase', { operation: 'forgetMemory', run: null })
      return forgetMemory(s, params.id, body, options)
    },
  }),
  operation({
    name: 'verifyMemory',
    http: 'GET /v1/memories/{id}/verify',
    right: 'log.verify',
    summary: 'Check the chain, the bodies and the digests of a fact',
    input: { params },
    output: schema.VerifiedMemory,
    answers: { 200: 'The proof, with any problems found' },
    run: async (s, { params: { id } }) => ({ id, ...(await verifyMemory(s, id)) }),
  }),
] as const

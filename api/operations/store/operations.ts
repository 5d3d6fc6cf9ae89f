import { z } from 'zod'
import { TraceHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { eraseVariables, getVariable, listStores, showStore, verifyStore } from './context-stores.ts'
import * as schema from './schemas.ts'

const params = z.object({ store: schema.StoreName })

/** Stores of context variables (seed 004). */
export const STORE_OPERATIONS = [
  operation({
    name: 'listContextStores',
    http: 'GET /v1/context-stores',
    right: 'stores.read',
    summary: 'Stores of context variables, in the order of their names',
    input: { query: schema.StoresQuery },
    output: schema.StoreList,
    answers: { 200: 'A page of stores' },
    awaitsTables: true,
    run: (s, { query }) => listStores(s, query),
  }),
  operation({
    name: 'getContextStore',
    http: 'GET /v1/context-stores/{store}',
    right: 'stores.read',
    summary: 'A store and its variables, in the order of their keys, without their values',
    input: { params, query: schema.VariablesQuery },
    output: schema.StoreShown,
    answers: { 200: 'The store, with a page of variables' },
    awaitsTables: true,
    run: (s, { params, query }) => showStore(s, params.store, query),
  }),
  operation({
    name: 'getContextVariable',
    http: 'GET /v1/context-stores/{store}/variable',
    right: 'stores.read',
    summary: 'A variable with its value',
    input: { params, query: schema.VariableQuery },
    output: schema.VariableShown,
    answers: { 200: 'The variable; the ETag is the revision of its value' },
    awaitsTables: true,
    revision: ({ variable }) => variable.revision,
    run: (s, { params, query }) => getVariable(s, params.store, query.key),
  }),
  operation({
    name: 'eraseContextVariables',
    http: 'POST /v1/context-stores/{store}/erase',
    right: 'stores.erase',
    summary: 'Empty the values of a variable, or of all, for ever; embedded only',
    input: { params, headers: TraceHeaders, body: schema.EraseVariables },
    output: schema.VariablesErased,
    answers: { 200: 'Erased, or what would be' },
    run: (s, { params, body }, { options }) => eraseVariables(s, params.store, body, options),
  }),
  operation({
    name: 'verifyContextStore',
    http: 'GET /v1/context-stores/{store}/verify',
    right: 'log.verify',
    summary: 'Check the chain, the bodies and the digests of a store',
    input: { params },
    output: schema.VerifiedStore,
    answers: { 200: 'The proof, or its problems' },
    run: async (s, { params: { store } }) => ({ store, ...(await verifyStore(s, store)) }),
  }),
] as const

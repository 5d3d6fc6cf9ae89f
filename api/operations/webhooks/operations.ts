import { recordRequest } from '../access/record-request.ts'
import { operation } from '../operation.ts'
import { notFound } from '../problem.ts'
import { mustWrite } from '../runs/record-command.ts'
import * as schema from './schemas.ts'

/** The webhooks of the settings. */
export const WEBHOOK_OPERATIONS = [
  operation({
    name: 'listWebhooks',
    http: 'GET /v1/webhooks',
    right: 'system.read',
    summary: 'The webhooks of the settings, and how their deliveries do',
    input: {},
    output: schema.Webhooks,
    answers: { 200: 'Webhooks' },
    run: async ({ webhooks }) => ({ webhooks: await webhooks.list() }),
  }),
  operation({
    name: 'testWebhook',
    http: 'POST /v1/webhooks/{name}/test',
    right: 'system.operate',
    summary: 'Send a test notice; a webhook that its receiver had stopped goes on if it is taken',
    input: { params: schema.WebhookParam },
    output: schema.WebhookTest,
    answers: { 200: 'Sent, or the reason why not' },
    run: async (s, { params: { name } }, caller) => {
      mustWrite(s)
      await recordRequest(s, caller, 'testWebhook', name)
      const answer = await s.webhooks.test(name)
      if (answer === null) throw notFound('webhook', name, '"webhooks" of the settings lists them')
      return answer
    },
  }),
] as const

import { operation } from '../operation.ts'
import { checkRuns } from './check-policy.ts'
import { CheckPolicy, PolicyChecked } from './schemas.ts'

export const POLICY_OPERATIONS = [
  operation({
    name: 'checkPolicy',
    http: 'POST /v1/policy/check',
    right: 'runs.read',
    summary: 'Which recorded calls another policy or role would have refused or asked about; nothing is performed',
    input: { body: CheckPolicy },
    output: PolicyChecked,
    answers: { 200: 'The calls' },
    awaitsTables: true,
    run: (s, { body }) => checkRuns(s, body),
  }),
] as const

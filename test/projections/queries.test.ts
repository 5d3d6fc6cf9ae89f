import { costContract } from '../contracts/projections/cost.ts'
import { queriesContract } from '../contracts/projections/queries.ts'
import { sqliteKit } from '../support/projections/kit.ts'

queriesContract(sqliteKit)
costContract(sqliteKit)

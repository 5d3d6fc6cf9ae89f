import { costContract } from '../contracts/projections/cost.ts'
import { numbersContract } from '../contracts/projections/numbers.ts'
import { queriesContract } from '../contracts/projections/queries.ts'
import { runFilterContract } from '../contracts/projections/run-filter.ts'
import { textsContract } from '../contracts/projections/texts.ts'
import { waitingContract } from '../contracts/projections/waiting.ts'
import { sqliteKit } from '../support/projections/kit.ts'

queriesContract(sqliteKit)
runFilterContract(sqliteKit)
costContract(sqliteKit)
numbersContract(sqliteKit)
waitingContract(sqliteKit)
textsContract(sqliteKit)

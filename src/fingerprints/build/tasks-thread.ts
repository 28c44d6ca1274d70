import { serveTasks } from '../../runtime/serve-tasks.ts'
import { TASKS } from './tasks.ts'

serveTasks(TASKS)

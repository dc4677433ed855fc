import uk.ac.starlink.ttools.Stilts;
import uk.ac.starlink.ttools.task.LineInvoker;

/** Runs the votlint of STILTS for each path. Prints the path, and what votlint has to say. */
public class Votlint {
    public static void main(String[] paths) {
        LineInvoker stilts = new LineInvoker("stilts", Stilts.getTaskFactory());
        System.setErr(System.out); // so that all of it is in its order
        for (String path : paths) {
            System.out.println("votlint: " + path);
            int status = stilts.invoke(new String[] {"votlint", "votable=" + path}, null);
            if (status != 0)
                System.out.println("exit status " + status);
        }
    }
}

-- Whether a space knows of any other project than one is asked with each recall from a project.
CREATE INDEX memory_projects_named ON memory_projects (space, project) WHERE project NOT IN ('', '*');
